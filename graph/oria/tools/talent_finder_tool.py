"""Finds people in the company by conditions; may pause once when nobody meets them, to ask which to change.

The tool starts again after the pause: the empty search is cached as a LangGraph task and does not happen twice
(seeds/oria_tools.md, talent_finder_tool). Nobody outside the conditions is ever shown instead.
"""

from collections.abc import Sequence
from typing import Any, Final, TypedDict

from langchain.tools import ToolRuntime
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langgraph.func import task
from pydantic import BaseModel, Field

from graph.middleware.delivery import deliver
from graph.middleware.tool_boundary import ToolResult, fail, run_bounded
from graph.oria.language import pick_text
from graph.oria.tools.clarification import attach_exchange
from graph.oria.tools.criteria_question import CriteriaChange, ask_criteria
from graph.oria.tools.declaration import declare_tool
from graph.oria.tools.rationales import Phrasing, write_rationales
from graph.oria.tools.shown import list_shown
from graph.oria.tools.talent import texts
from graph.oria.tools.talent.cards import IDS_KEY, build_artifact, build_card, write_lines, write_name
from graph.oria.tools.talent.change import change_intent, list_options
from graph.oria.tools.talent.evidence import gather_evidence
from graph.oria.tools.talent.intent import NO_INTENT, TalentSearchIntent, bound_intent, list_ignored
from graph.oria.tools.talent.no_result import write_no_result
from graph.oria.tools.talent.rationales import describe
from graph.oria.tools.talent.retrieval import retrieve
from graph.oria.untrusted import encode_data
from oria_runtime.catalog.talent_search import Candidate, Criterion
from oria_runtime.turns.context import TurnContext

NAME: Final = "talent_finder_tool"
RATIONALES_LABEL: Final = "talent_finder.rationales"
FAILURE: Final = "Error: colleagues could not be searched just now."
NO_REQUEST: Final = "Error: neither a request nor a condition was given. Ask whom the person is looking for."

Runtime = ToolRuntime[TurnContext]


class TalentRequest(BaseModel):
    """Arguments of the tool."""

    query: str = Field(description="Whom to find, as a sentence that stands on its own, in the person's words.")
    intent: TalentSearchIntent = Field(NO_INTENT, description="The conditions that the request states, and no others.")
    show_more: bool = Field(False, description="True only when the person explicitly asks for more of the same search.")


class Found(TypedDict):
    """A completed search. JSON only: it is cached over a pause. `criteria` are the conditions as they were searched."""

    criteria: list[dict[str, Any]]
    candidates: list[dict[str, Any]]


def build_talent_finder_tool() -> BaseTool:
    """The tool; its results are shown to the person directly. It may pause, so list it as interrupting."""

    @declare_tool(NAME, TalentRequest)
    async def talent_finder(
        runtime: Runtime, query: str, intent: TalentSearchIntent = NO_INTENT, show_more: bool = False
    ) -> ToolResult:
        """Find people in the company: who knows or can do something, who works as what, where, in which department.

        Find an engineer, an operator or an analyst in a town. Find somebody in a department with experience in a topic.
        Who is an expert, who could be a mentor, who could join a project? Results go to the person directly. Degrees,
        certificates and years of experience cannot be searched: give them under their own fields, never under another
        one. When nobody meets the conditions it asks the person itself what to change; never loosen them yourself.
        Call it alone.
        """
        request = TalentRequest(query=query.strip(), intent=bound_intent(intent), show_more=show_more)
        work = Search(request, runtime).run()
        return await run_bounded(work, name=NAME, call_id=runtime.tool_call_id, failure=FAILURE)

    return talent_finder


class Search:
    """One call of the tool."""

    def __init__(self, request: TalentRequest, runtime: Runtime) -> None:
        self.request = request
        self.runtime = runtime
        self.context = runtime.context

    async def run(self) -> ToolResult:
        """Search, ask if nobody was found, search again."""
        request = self.request
        if not request.query and not request.intent.criteria:
            return fail(NAME, self.runtime.tool_call_id, NO_REQUEST)

        @task
        async def search_once() -> Found:
            return await self.search(request.query, request.intent)

        found = await search_once()
        if found["candidates"] or not self.context.turn.interactions:
            return await self.present(found, request.query, request.intent)
        options = list_options(request.intent, self.context.turn.locale)
        change = ask_criteria(options, self.context.turn.locale, more=request.show_more)
        work = self.search_again(change)
        result = await run_bounded(work, name=NAME, call_id=self.runtime.tool_call_id, failure=FAILURE)
        return attach_exchange(result, change.exchange)

    async def search_again(self, change: CriteriaChange) -> ToolResult:
        """The search with what the person changed, or the end of the request when they skipped."""
        query, intent = self.request.query, self.request.intent
        if change.skipped:
            fixed = texts.NO_MORE if self.request.show_more else texts.MISSES
            return self.deliver_miss(query, intent, pick_text(fixed, self.context.turn.locale))
        changed = await change_intent(intent, change, self.context)
        query = ". ".join(part for part in (query, change.text) if part)
        return await self.present(await self.search(query, changed), query, changed)

    async def search(self, query: str, intent: TalentSearchIntent) -> Found:
        """The people who meet the conditions; never the one who asks, nor those shown before when more is asked for."""
        shown = list_shown(self.runtime.state["messages"], IDS_KEY) if self.request.show_more else []
        excluded = [self.context.turn.user_id, *shown]
        criteria, candidates = await retrieve(query, intent, excluded=excluded, context=self.context)
        return {
            "criteria": [vars(criterion) for criterion in criteria],
            "candidates": [candidate.model_dump(mode="json") for candidate in candidates],
        }

    async def present(self, found: Found, query: str, intent: TalentSearchIntent) -> ToolResult:
        """The card, or the answer that there is nobody."""
        locale, more = self.context.turn.locale, self.request.show_more
        candidates = [Candidate.model_validate(stored) for stored in found["candidates"]]
        if not candidates:
            miss = pick_text(texts.NO_MORE, locale) if more else await write_no_result(query, self.context)
            return self.deliver_miss(query, intent, miss)
        criteria = [Criterion(**stored) for stored in found["criteria"]]
        subjects = [describe(gather_evidence(candidate, intent, criteria), locale) for candidate in candidates]
        phrasing = Phrasing(RATIONALES_LABEL, "talent/rationales", "colleagues")
        rationales = await write_rationales(subjects, phrasing, models=self.context.models, locale=locale)
        title = pick_text(texts.MORE_TITLES if more else texts.FOUND_TITLES, locale)
        note = texts.write_ignored(list_ignored(intent), locale)
        card = build_card(candidates, rationales, title=title, subtitle=query, note=note)
        message = self.write_record(query, intent, candidates)
        text = "\n".join(filter(None, (title, write_lines(candidates, rationales), note)))
        return deliver(message, text=text, cards=[card])

    def deliver_miss(self, query: str, intent: TalentSearchIntent, text: str) -> ToolResult:
        """The text that there is nobody, with what was not searched."""
        note = texts.write_ignored(list_ignored(intent), self.context.turn.locale)
        return deliver(self.write_record(query, intent, []), text=" ".join(filter(None, (text, note))))

    def write_record(self, query: str, intent: TalentSearchIntent, candidates: Sequence[Candidate]) -> ToolMessage:
        """The result as later turns read it; the ids travel in the artifact, which no model sees."""
        content = {
            "for": query,
            "shown": [write_name(candidate) for candidate in candidates],
            "ignored": [condition.field for condition in list_ignored(intent)],
        }
        return ToolMessage(
            encode_data(content),
            name=NAME,
            tool_call_id=self.runtime.tool_call_id or "",
            artifact=build_artifact(candidates) if candidates else None,
        )
