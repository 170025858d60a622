"""A company's handbook as `make knowledge` registers it: asked, asked in French, and asked while its server is away.

Nothing is replaced: real workers, a real web server, the offline model.
"""

import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
import pytest_asyncio

from local.cloud.cloud import LocalCloud
from local.cloud.folder_server import FolderServer
from local.cloud.http_server import find_free_port
from local.cloud.knowledge_admin import KnowledgeAdmin
from local.cloud.knowledge_command import open_admin, register_folder
from local.cloud.knowledge_report import Progress
from local.cloud.options import CloudOptions
from local.sample_tenant.load import HANDBOOK
from oria_runtime.db.pool import TenantDatabase, create_pool
from tests.support.database import create_tenant
from tests.support.oria_cloud import STAGE_FUNCTIONS
from tests.support.people import add_person
from tests.support.talks import Json, Talk

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]

USER = "amira.haddad"
NAME = "handbook"
# The handbook says nothing about it, in no language.
UNANSWERED = "What is our policy on jury duty?"


@dataclass
class Company:
    """A tenant with a handbook, in a running cloud."""

    cloud: LocalCloud
    http: httpx2.AsyncClient
    tenant: str
    admin: KnowledgeAdmin
    server: FolderServer
    source: Json
    told: list[str]

    async def ask(self, question: str) -> Talk:
        """A new conversation with this question; its answer is `last`."""
        talk = await Talk(self.cloud, self.http, self.cloud.token(USER, self.tenant)).start()
        await talk.say(question)
        assert (talk.last["status"], talk.last["agent"]) == ("completed", "career_chat"), talk.last
        return talk

    @asynccontextmanager
    async def server_away(self) -> AsyncIterator[None]:
        """Nothing listens where the handbook is served."""
        port = int(self.server.url.rpartition(":")[2])
        await self.server.close()
        yield
        self.server = FolderServer(HANDBOOK, port=port)
        await self.server.start()


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def company(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Company]:
    options = CloudOptions(
        data=tmp_path_factory.mktemp("knowledge"),
        sample_tenant=False,
        offline_model=True,
        throwaway=True,
        schedules=False,
        prewarm=[*STAGE_FUNCTIONS, "KnowledgeFunction", "MemoryFunction", "RefreshSourceFunction", "StreamFunction"],
    )
    async with LocalCloud(options) as cloud, httpx2.AsyncClient(timeout=60) as http:
        assert cloud.database_urls is not None
        async with create_pool(cloud.database_urls.app, max_size=1) as pool:
            tenant_id = await create_tenant(pool, "northwind")
            await add_person(TenantDatabase(pool, tenant_id), USER, job_title="Data analyst")
        server, told = FolderServer(HANDBOOK), list[str]()
        await server.start()
        async with open_admin(cloud.url, cloud.token("admin", str(tenant_id), scope="admin")) as admin:
            source = await register_folder(admin, server, NAME, told.append)
            company = Company(cloud, http, str(tenant_id), admin, server, source, told)
            yield company
            await company.server.close()


def list_urls(talk: Talk) -> list[str]:
    """What the answer cites."""
    return [source["url"] for source in talk.last["outcome"]["sources"]]


def was_researched(talk: Talk) -> bool:
    """Whether the turn went to the Knowledge Base."""
    return "search_knowledge_sources" in str(talk.turns[-1]["events"])


def assert_unavailable(talk: Talk) -> None:
    """The person reads that it could not be checked, not that there is nothing, and is asked on."""
    text = talk.last["outcome"]["text"]
    assert was_researched(talk)
    assert not list_urls(talk)
    assert "could not be checked just now" in text
    assert text.endswith("?")


async def test_a_folder_is_indexed_whatever_its_formats(company: Company) -> None:
    documents = [document async for document in company.admin.list_documents(company.source["id"])]
    indexed = {document["location"].removeprefix(company.server.url): document for document in documents}
    entry = indexed.pop("/")
    assert (entry["status"], entry["reason"]) == ("empty", "noindex")
    assert {(document["status"], document["chunks"] > 0) for document in indexed.values()} == {("indexed", True)}
    assert {Path(name).suffix for name in indexed} == {".md", ".html", ".docx", ".pdf"}
    assert company.told[-1].startswith(f"{len(indexed)} new; ")


async def test_called_again_it_refreshes_the_same_source_and_reads_only_what_changed(company: Company) -> None:
    told: list[str] = []
    again = await register_folder(company.admin, company.server, NAME, told.append)
    assert again["id"] == company.source["id"]
    assert told[-1].startswith(f"{len(company.server.folder.list_documents())} unchanged; 0 passages embedded")
    assert company.server.answers["/time-off/annual-leave.md", 200] == 1


async def test_a_rule_is_answered_with_its_page_in_english_and_in_french(company: Company) -> None:
    page = f"{company.server.url}/time-off/annual-leave.md#how-many-days-you-have"
    for question in ("How many days of annual leave do I have?", "Combien de jours de congé annuel ai-je ?"):
        talk = await company.ask(question)
        assert page in list_urls(talk), talk.last["outcome"]
        assert "28 working days" in talk.last["outcome"]["text"]


async def test_what_the_handbook_does_not_say_is_a_miss_with_a_follow_up(company: Company) -> None:
    talk = await company.ask(UNANSWERED)
    text = talk.last["outcome"]["text"]
    assert was_researched(talk)
    assert not list_urls(talk)
    assert "could not be checked" not in text
    assert text.endswith("?")


async def test_a_server_that_is_away_matters_only_where_the_index_does_not_answer(company: Company) -> None:
    async with company.server_away():
        assert_unavailable(await company.ask(UNANSWERED))
        answered = await company.ask("How long can a sabbatical last?")
    assert f"{company.server.url}/time-off/career-breaks.md#how-long" in list_urls(answered)


async def test_a_disabled_source_answers_nothing_and_one_that_never_answered_is_unavailable(company: Company) -> None:
    await company.admin.disable(company.source["id"])
    talk = await company.ask("How many days of annual leave do I have?")
    assert not was_researched(talk)
    assert not list_urls(talk)

    source = await company.admin.register("intranet", f"http://127.0.0.1:{find_free_port()}/", 10)
    refreshed = await company.admin.refresh(source, Progress(1, int, io.StringIO()).show)
    assert (refreshed["last_refresh"]["status"], refreshed["documents"]) == ("failed", {"unreachable": 1})
    assert_unavailable(await company.ask("How many days of annual leave do I have?"))
