"""Finds openings inside the company; may pause once when nothing meets the criteria, to ask which of them to change.

The tool starts again after the pause. The request as understood and the empty search are cached as LangGraph tasks, so
neither happens twice (seeds/oria_tools.md, search_opportunities_tool). Nothing is ever found outside the criteria: what
the person does not give up stays, and the tenant's own filters cannot be given up.
"""

from collections.abc import Sequence
from typing import Any, Final, TypedDict

from langchain.tools import ToolRuntime
from langchain_core.tools import BaseTool
from langgraph.func import task

from graph.middleware.tool_boundary import ToolResult, run_bounded
from graph.oria.tools.clarification import attach_exchange
from graph.oria.tools.criteria_question import CriteriaChange, CriterionOption, ask_criteria
from graph.oria.tools.declaration import declare_tool
from graph.oria.tools.opportunities import texts
from graph.oria.tools.opportunities.cards import IDS_KEY
from graph.oria.tools.opportunities.criteria import OpportunitySearchCriteria, list_used
from graph.oria.tools.opportunities.evidence import Wishes
from graph.oria.tools.opportunities.limits import list_limits
from graph.oria.tools.opportunities.presentation import Presentation, deliver_found, deliver_miss
from graph.oria.tools.opportunities.query import resolve_query
from graph.oria.tools.opportunities.request import OpportunityRequest
from graph.oria.tools.opportunities.retrieval import retrieve
from graph.oria.tools.opportunities.understanding import Reader, Understanding
from graph.oria.tools.shown import list_shown
from oria_runtime.catalog.opportunities import Opportunity
from oria_runtime.catalog.people import Profile
from oria_runtime.turns.context import TurnContext

NAME: Final = "search_opportunities_tool"
FAILURE: Final = "Error: the opportunities could not be searched just now."
RATIONALES_LABEL: Final = "search_opportunities.rationales"

Runtime = ToolRuntime[TurnContext]


def build_search_opportunities_tool(profile: Profile | None) -> BaseTool:
    """The tool over the profile of this request; its results are shown to the person directly. It may pause."""

    @declare_tool(NAME, OpportunityRequest)
    async def search_opportunities(runtime: Runtime, query: str, show_more_opportunities: bool = False) -> ToolResult:
        """Find openings inside the company: jobs, projects, missions, mentoring, internships.

        For instance a new job in another town, openings posted in the last days, projects about a subject,
        mentoring in a department, a remote position in some field, opportunities that suit the person's skills.
        It reads their profile where the request is about it. Results go to the person directly. When nothing meets the
        criteria it asks the person itself what to change; never widen the request for them. Call it alone.
        """
        request = OpportunityRequest(query=query, show_more_opportunities=show_more_opportunities)
        work = Search(request, profile, runtime).run()
        return await run_bounded(work, name=NAME, call_id=runtime.tool_call_id, failure=FAILURE)

    return search_opportunities


class Searched(TypedDict):
    """A finished search. JSON only: it is cached over a pause.

    `changeable`: whether other criteria could find anything, which is not so where the tenant lets nothing through.
    """

    found: list[dict[str, Any]]
    changeable: bool


class Search:
    """One call of the tool."""

    def __init__(self, request: OpportunityRequest, profile: Profile | None, runtime: Runtime) -> None:
        self.request = request
        self.profile = profile
        self.runtime = runtime
        self.context = runtime.context
        self.limits = list_limits(self.context.tenant.config.opportunities, profile)

    async def run(self) -> ToolResult:
        """Understand, search, ask if nothing was found, search again."""

        @task
        async def understand_once() -> Understanding:
            return await Reader(self.context).understand(self.request.query, self.profile)

        @task
        async def search_once() -> Searched:
            found = await self.search(criteria, terms)
            dumped = [opportunity.model_dump(mode="json") for opportunity in found]
            return {"found": dumped, "changeable": self.limits is not None}

        understanding = await understand_once()
        criteria = OpportunitySearchCriteria.model_validate(understanding["criteria"])
        terms = understanding["terms"]
        searched = await search_once()
        found = [Opportunity.model_validate(stored) for stored in searched["found"]]
        if found or not self.context.turn.interactions or not searched["changeable"]:
            return await self.present(found, criteria)
        options = list_options(criteria, self.context.turn.locale)
        change = ask_criteria(options, self.context.turn.locale, more=self.request.show_more_opportunities)
        work = self.search_again(criteria, terms, change)
        result = await run_bounded(work, name=NAME, call_id=self.runtime.tool_call_id, failure=FAILURE)
        return attach_exchange(result, change.exchange)

    async def search_again(
        self, criteria: OpportunitySearchCriteria, terms: Sequence[str], change: CriteriaChange
    ) -> ToolResult:
        """The search with what the person changed, or the end of the request when they skipped."""
        if change.skipped:
            return await self.present([], criteria)
        changed = await Reader(self.context).change(criteria, change.changed, change.text)
        purpose = ". ".join(filter(None, (self.request.query.rstrip(" ."), change.text)))
        return await self.present(await self.search(changed, terms), changed, purpose)

    async def search(self, criteria: OpportunitySearchCriteria, terms: Sequence[str]) -> list[Opportunity]:
        """The opportunities, without those shown before when more of them is asked for."""
        if self.limits is None:
            return []
        more = self.request.show_more_opportunities
        return await retrieve(
            resolve_query(self.request.query, criteria, terms),
            criteria,
            self.limits,
            profile=self.profile,
            excluded=list_shown(self.runtime.state["messages"], IDS_KEY) if more else (),
            context=self.context,
        )

    async def present(
        self, found: Sequence[Opportunity], criteria: OpportunitySearchCriteria, purpose: str = ""
    ) -> ToolResult:
        """The card, or the localized miss; `purpose` is the request with what the person has answered since."""
        more = self.request.show_more_opportunities
        presentation = Presentation(
            tool=NAME,
            call_id=self.runtime.tool_call_id or "",
            purpose=purpose or self.request.query,
            title=texts.MORE_TITLES if more else texts.FOUND_TITLES,
            miss=texts.NO_MORE if more else texts.MISSES,
            label=RATIONALES_LABEL,
            criteria=criteria,
        )
        if not found:
            return deliver_miss(presentation, self.context)
        wishes = Wishes(criteria, resolve_query(self.request.query, criteria).words, self.profile)
        return await deliver_found(found, wishes, presentation, self.context)


def list_options(criteria: OpportunitySearchCriteria, locale: str) -> list[CriterionOption]:
    """The criteria of the search as the person may give them up."""
    options = []
    for name in list_used(criteria):
        value = getattr(criteria, name)
        values = value if isinstance(value, list) else [str(value)]
        options.append(CriterionOption(name, texts.write_named(name, values, locale)))
    return options
