"""The offline model in a process of its own, behind a server that counts what it is asked to embed."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx2

from local.cloud.logs import LogFiles
from local.cloud.model_server import ModelServer
from local.cloud.options import CloudOptions
from local.offline_model.wire.embeddings import read_texts
from local.offline_model.wire.server import HttpReply, HttpRequest, serve
from oria_runtime.models.client import Models, build_models
from oria_runtime.settings import ModelSettings
from oria_runtime.tenancy.tenants import TenantConfig

SECONDS = 60.0


@dataclass
class CountedEmbedder:
    """Requests and texts since the last reset; `environ` leads the product's own client here."""

    client: httpx2.AsyncClient
    url: str = ""
    calls: int = 0
    texts: int = 0

    @property
    def environ(self) -> dict[str, str]:
        return {"OPENAI_API_KEY": "offline", "OPENAI_BASE_URL": f"{self.url}/v1"}

    def reset(self) -> None:
        self.calls = self.texts = 0

    def build_models(self) -> Models:
        """The product's client."""
        return build_models(ModelSettings.from_environ(self.environ), TenantConfig(), environ=self.environ)

    async def pass_on(self, request: HttpRequest) -> HttpReply:
        """Count a request and have the model answer it."""
        self.calls += 1
        self.texts += len(read_texts(request.read_json()))
        answer = await self.client.post(request.path, content=request.body)
        return HttpReply(answer.status_code, answer.content)


@asynccontextmanager
async def start_embedder() -> AsyncIterator[CountedEmbedder]:
    """A new process with its weights loaded. The model remembers texts: whoever embeds the same ones as another needs
    a process of his own, or he gets them for nothing."""
    with tempfile.TemporaryDirectory(prefix="oria-bench-") as folder:
        model = ModelServer(CloudOptions(data=Path(folder)), LogFiles(Path(folder) / "logs"))
        try:
            await model.start()
            parts = urlsplit(model.url)
            address = f"{parts.scheme}://{parts.netloc}"
            async with httpx2.AsyncClient(base_url=address, timeout=SECONDS, trust_env=False) as client:
                embedder = CountedEmbedder(client)
                async with serve(embedder.pass_on) as embedder.url:
                    await embedder.build_models().embed(["loads its weights"])
                    embedder.reset()
                    yield embedder
        finally:
            await model.close()
