"""Serves a folder's documents on loopback, as a company's own web server would: for `make knowledge` and tests."""

import asyncio
import codecs
from collections import Counter
from email.utils import formatdate
from hashlib import sha256
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route
from starlette.staticfiles import NotModifiedResponse, StaticFiles
from starlette.types import Message, Receive, Scope, Send

from local.cloud.folder import MEDIA_TYPES, Folder
from local.cloud.http_server import HttpServer


class FolderServer:
    """An HTTP server of a folder: a page `/` with links to all documents, and the documents under their own names.

    It answers GET and HEAD, with ETag and Last-Modified, and 304 where they still hold. `answers` counts by path and
    status. Raises PortInUseError when the port is taken.
    """

    def __init__(self, folder: Path, *, port: int = 0) -> None:
        self.folder = Folder(folder.resolve(strict=True))
        self.answers: Counter[tuple[str, int]] = Counter()
        self._server = HttpServer(port=port)
        self.url = self._server.url
        # Borrowed for its comparison of validators alone: it would serve hidden files too.
        self._files = StaticFiles(directory=self.folder.path)
        routes = [Route("/", self._answer_index), Route("/{name:path}", self._answer_document)]
        self._app = Starlette(routes=routes)

    @property
    def documents_sent(self) -> int:
        """How often a document was sent, or confirmed as unchanged."""
        return sum(count for (path, status), count in self.answers.items() if path != "/" and status in (200, 304))

    async def start(self) -> None:
        await self._server.start(self)

    async def close(self) -> None:
        await self._server.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.answers[scope["path"], message["status"]] += 1
            await send(message)

        await self._app(scope, receive, send_counted)

    async def _answer_index(self, request: Request) -> Response:
        page = await asyncio.to_thread(self.folder.build_page)
        response = HTMLResponse(page, headers={"ETag": f'"{sha256(page.encode()).hexdigest()[:32]}"'})
        return self._shorten(request, response)

    async def _answer_document(self, request: Request) -> Response:
        try:
            file = await asyncio.to_thread(self.folder.find, request.path_params["name"])
        except (OSError, ValueError):
            # A name too long for a file, or with a character that none may have.
            file = None
        if file is None:
            raise HTTPException(404)
        media_type = await asyncio.to_thread(describe_type, file)
        stat = await asyncio.to_thread(file.stat)
        headers = {"Content-Type": media_type, "Last-Modified": formatdate(stat.st_mtime, usegmt=True)}
        return self._shorten(request, FileResponse(file, headers=headers, stat_result=stat))

    def _shorten(self, request: Request, response: Response) -> Response:
        if self._files.is_not_modified(response.headers, request.headers):
            return NotModifiedResponse(response.headers)
        return response


def describe_type(file: Path) -> str:
    """The media type of a document; a text that is not UTF-8 goes without a charset, so that its reader finds it."""
    media_type = MEDIA_TYPES[file.suffix.lower()]
    if not media_type.startswith("text/"):
        return media_type
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with file.open("rb") as stream:
            while block := stream.read(1 << 16):
                decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return media_type
    return f"{media_type}; charset=utf-8"
