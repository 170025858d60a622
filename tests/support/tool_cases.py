"""The table of tools: a row for each, with the calls that every column makes."""

from typing import Any

from graph.oria.agents.knowledge_base.agent import UNAVAILABLE
from graph.oria.tools import (
    display_user_profile_tool,
    get_document_content_tool,
    get_jobs_tool,
    get_objective_tool,
    get_trainings_tool,
    get_user_profile_selective_tool,
    map_jobs_tool,
    map_skills_tool,
    person_disambiguation_tool,
    request_clarification_tool,
    search_opportunities_tool,
    suggest_opportunities_based_on_objective_tool,
    suggest_simulation,
    talent_finder_tool,
    task_helper_tool,
    training_finder_tool,
    transfer_to_knowledge_base,
)
from graph.oria.tools.opportunities.criteria import NO_CRITERIA
from graph.oria.untrusted import encode_data
from tests.support.scripted_model import Script, Seen, call, choose, give, say
from tests.support.simulations import BRIEF, SCENARIO
from tests.support.tool_case import Ask, Hole, Pause, ToolCase
from tests.support.tool_world import BARE_USER, DOCUMENT, EARLIER

PROFILE_IS_READ = Hole("the agent's node reads the profile once, before any tool runs")
ONLY_READS = Hole("it reads rows by their names or ids")
CERTAIN = Hole("its input says all it needs")
OPENINGS, PEOPLE, TRAININGS = "opportunitySuggestionList", "talentSuggestionList", "trainingSuggestionList"
EMBEDDINGS = "embeddings"


def fail_with(text: str, ask: Ask) -> Ask:
    """The same call, with an error result of exactly this text."""
    return Ask(ask.arguments, text, "error", interactions=ask.interactions, user=ask.user)


def find_in(location: str, **others: str) -> dict[str, Any]:
    """The conditions of a search for people."""
    conditions = {"location": location} | others
    return {"criteria": [{"field": name, "operator": "any", "values": [value]} for name, value in conditions.items()]}


def ask_openly(text: str) -> dict[str, Any]:
    """A question as a model writes it."""
    return {"text": text, "input_type": "text", "options": [], "allow_free_text": False}


def prepare_opportunities(script: Script) -> None:
    def criteria(**changes: Any) -> dict[str, Any]:
        return NO_CRITERIA.model_dump() | {"topic": "data"} | changes

    script.on(label="search_opportunities.criteria").reply(give(criteria(locations=["Lyon"])))
    script.on(label="search_opportunities.criteria", text="in Paris").reply(give(criteria(locations=["Paris"])))
    script.on(label="search_opportunities.change").reply(give(criteria(locations=["Nice"], dropped=[])))


def prepare_trainings(script: Script) -> None:
    question = ask_openly("What for?") | {"dimension": "target"}
    script.on(label="training_finder.questions").reply(give({"questions": [question]}))
    script.on(label="training_finder.search_or_clarify", endpoint="decisions").reply(choose("search"))


def prepare_simulation(script: Script) -> None:
    script.on(label="suggest_simulation.parse").reply(give(BRIEF))
    script.on(label="suggest_simulation.scenario").reply(give(dict(SCENARIO)))


def prepare_analysis(script: Script) -> None:
    script.on(label="profile_analysis.copy").reply(give({"summary": "You count.", "strengths": ["SQL"]}))
    script.on(label="profile_analysis.alignment").reply(give({"percent": 61, "reason": "SQL is strong."}))


def prepare_guidance(script: Script) -> None:
    script.on(label="task_helper.guidance").reply(say("1. Write the actions down."))


def prepare_research(script: Script) -> None:
    """Research finds the answer to the person who has a profile."""

    def has_profile(_: Seen) -> bool:
        asked = script.seen(label="langgraph.career_chat_agent", tool="transfer_to_knowledge_base")
        return get_user_profile_selective_tool.NAME in asked[-1].tools

    script.on(label="langgraph.knowledge_base_agent").reply(call("search_knowledge_sources"), say("DONE"))
    script.on(label="knowledge_base.synthesis").reply(give({"status": "miss", "answer": "", "citations": []}))
    supported = {"status": "supported", "answer": "On paper.", "citations": ["e1"]}
    script.on(label="knowledge_base.synthesis", where=has_profile).reply(give(supported))


PROFILE = Ask({"need_skills": True}, "Python")
CONTENT = Ask({"file_name": DOCUMENT, "conversation_id": str(EARLIER)}, "Ten years of audits")
TITLES = Ask({"job_titles": ["Data analyst", "Weaver"]}, '"job_code": "DA"')
UNKNOWN_TITLE = Ask({"job_titles": ["Weaver"]}, '"job_code": null')
CODES = Ask({"job_codes": ["DA", "NO"]}, '"Data analyst"')
LABELS = Ask({"skill_labels": ["Python", "Weaving"]}, '"skill_code": "py"')
SHOWN = Ask({"training_ids": ["t1", "t0"]}, "Python part 1", card=TRAININGS)
OBJECTIVE = Ask({"title": "lead a team"}, '"id": "lead"')
UNCERTAIN = Ask({"title": "Manage people"}, interactions=False)
PRACTICE = Ask({"request": "A talk about a late report"}, "Late again", card="simulation")
OPENING = Ask({"query": "Data work in Lyon"}, "Data work in Lyon", card=OPENINGS)
FOR_OBJECTIVE = Ask({"objective_id": "lead", "user_message": "Openings for it"}, "Data work", card=OPENINGS)
COURSE = Ask({"query": "Python", "is_learning_plan": False}, "Python part", card=TRAININGS)
TALENT = Ask({"query": "Somebody in Nice", "intent": find_in("Nice")}, "Grace Hopper", card=PEOPLE)
ANALYSIS = Ask({}, "skill_score", card="profile_analysis")
TASK = Ask({"user_question": "Write the minutes of our meeting"}, "Write the actions down", card="")
HANDOVER = Ask({}, '"status": "supported"', card="")
NOT_CHECKED = Ask({}, encode_data(UNAVAILABLE), "error")
GRACE = Ask({"person_name": "Grace Hopper"}, '"id": "p-3"')
QUESTION = Pause(
    Ask({"questions": [ask_openly("Which meeting?")]}, "The yearly one"),
    [{"text": "The yearly one"}],
    failing=[{"text": "The yearly one"}],
)

CASES = [
    ToolCase(
        tool=get_user_profile_selective_tool.NAME,
        success=PROFILE,
        miss=Ask({"need_skills": False}, get_user_profile_selective_tool.NOTHING_SELECTED, "error"),
        database=PROFILE_IS_READ,
        model=Hole("it selects by flags"),
        pause=CERTAIN,
    ),
    ToolCase(
        tool=get_document_content_tool.NAME,
        success=CONTENT,
        miss=Ask({"file_name": "no.txt"}, '{"error": "Document not found."}'),
        database=fail_with(get_document_content_tool.FAILURE, CONTENT),
        model=ONLY_READS,
        pause=CERTAIN,
    ),
    ToolCase(
        tool=map_jobs_tool.NAME,
        success=TITLES,
        miss=UNKNOWN_TITLE,
        database=fail_with(map_jobs_tool.FAILURE, TITLES),
        model=fail_with(map_jobs_tool.FAILURE, UNKNOWN_TITLE),
        pause=CERTAIN,
    ),
    ToolCase(
        tool=get_jobs_tool.NAME,
        success=CODES,
        miss=Ask({"job_codes": ["NO"]}, '"unknown_codes": ["NO"]'),
        database=fail_with(get_jobs_tool.FAILURE, CODES),
        model=ONLY_READS,
        pause=CERTAIN,
    ),
    ToolCase(
        tool=map_skills_tool.NAME,
        success=LABELS,
        miss=Ask({"skill_labels": ["Weaving"]}, "[]"),
        database=fail_with(map_skills_tool.FAILURE, LABELS),
        model=LABELS,
        pause=CERTAIN,
    ),
    ToolCase(
        tool=get_trainings_tool.NAME,
        success=SHOWN,
        miss=Ask({"training_ids": ["no"]}, get_trainings_tool.NOT_FOUND),
        database=fail_with(get_trainings_tool.FAILURE, SHOWN),
        model=ONLY_READS,
        pause=CERTAIN,
    ),
    ToolCase(
        tool=get_objective_tool.NAME,
        success=OBJECTIVE,
        miss=Ask({"title": "lead a team"}, get_objective_tool.NOT_FOUND, user=BARE_USER),
        database=PROFILE_IS_READ,
        model=fail_with(get_objective_tool.FAILURE, UNCERTAIN),
        pause=Pause(Ask({}, '"id": "speak"'), [{"option_ids": ["o2"]}], failing=[{"option_ids": ["o2"]}]),
    ),
    ToolCase(
        tool=suggest_simulation.NAME,
        success=PRACTICE,
        miss=Ask({**PRACTICE.arguments, "counterpart_name": "Boris Zimmermann"}, "Late again", card="simulation"),
        database=fail_with(suggest_simulation.FAILURE, PRACTICE),
        model=fail_with(suggest_simulation.FAILURE, PRACTICE),
        pause=Pause(
            Ask({**PRACTICE.arguments, "counterpart_name": "Ada Byron"}, "Late again", card="simulation"),
            [{"option_ids": ["o1"]}],
            {"suggest_simulation.parse": 1, "suggest_simulation.scenario": 1, EMBEDDINGS: 1},
            reads=2,
            failing=[{"option_ids": ["o1"]}],
        ),
        prepare=prepare_simulation,
    ),
    ToolCase(
        tool=search_opportunities_tool.NAME,
        success=OPENING,
        miss=Ask({"query": "Data work in Paris"}, '"shown": []', card="", interactions=False),
        database=fail_with(search_opportunities_tool.FAILURE, OPENING),
        model=fail_with(search_opportunities_tool.FAILURE, OPENING),
        pause=Pause(
            Ask({"query": "Data work in Paris"}, "Data work in Nice", card=OPENINGS),
            [{"option_ids": ["o1"]}, {"text": "Rather in Nice"}],
            {"search_opportunities.change": 1, "search_opportunities.rationales": 1, EMBEDDINGS: 1},
            reads=1,
            failing=[{"option_ids": ["o1"]}, {"text": "Rather in Nice"}],
        ),
        prepare=prepare_opportunities,
    ),
    ToolCase(
        tool=suggest_opportunities_based_on_objective_tool.NAME,
        success=FOR_OBJECTIVE,
        miss=Ask({**FOR_OBJECTIVE.arguments, "objective_id": "no"}, '"shown": []', card=""),
        database=fail_with(suggest_opportunities_based_on_objective_tool.FAILURE, FOR_OBJECTIVE),
        model=fail_with(suggest_opportunities_based_on_objective_tool.FAILURE, FOR_OBJECTIVE),
        pause=CERTAIN,
    ),
    ToolCase(
        tool=training_finder_tool.NAME,
        success=COURSE,
        miss=Ask({"query": "Weaving baskets", "is_learning_plan": False}, '"shown": []', card=""),
        database=fail_with(training_finder_tool.FAILURE, COURSE),
        model=fail_with(training_finder_tool.FAILURE, COURSE),
        pause=Pause(
            Ask({"query": "A plan for Python", "is_learning_plan": True}, "Python part", card=TRAININGS),
            [{"text": "Reports"}],
            {"training_finder.plan": 1, EMBEDDINGS: 1},
            reads=1,
            failing=[{"text": "Reports"}],
        ),
        prepare=prepare_trainings,
    ),
    ToolCase(
        tool=talent_finder_tool.NAME,
        success=TALENT,
        miss=Ask({"query": "Somebody", "intent": find_in("Oslo")}, '"shown": []', card="", interactions=False),
        database=fail_with(talent_finder_tool.FAILURE, TALENT),
        model=fail_with(talent_finder_tool.FAILURE, TALENT),
        pause=Pause(
            Ask({"query": "An engineer in Oslo", "intent": find_in("Oslo", role="Engineer")}, "Grace", card=PEOPLE),
            [{"option_ids": ["o1"]}, {"skip": True}],
            {"talent_finder.rationales": 1, EMBEDDINGS: 1},
            reads=1,
            failing=[{"skip": True}, {"text": "Rather in Nice"}],
        ),
    ),
    ToolCase(
        tool=display_user_profile_tool.NAME,
        success=ANALYSIS,
        miss=Ask({}, display_user_profile_tool.NO_PROFILE, "error", user=BARE_USER),
        # Its parts fail alone: an estimate stands for a score, the profile's data for what a model would write.
        database=Ask({}, '"source": "estimate"', card="profile_analysis"),
        model=Ask({}, "Data analyst", card="profile_analysis"),
        pause=CERTAIN,
        prepare=prepare_analysis,
    ),
    ToolCase(
        tool=task_helper_tool.NAME,
        success=TASK,
        miss=Ask({"user_question": " "}, task_helper_tool.NO_TASK, "error"),
        database=PROFILE_IS_READ,
        model=fail_with(task_helper_tool.FAILURE, TASK),
        pause=Hole("what is missing is asked for before it is called"),
        prepare=prepare_guidance,
    ),
    ToolCase(
        tool=person_disambiguation_tool.NAME,
        success=GRACE,
        miss=Ask({"person_name": "Boris Zimmermann"}, '"candidates": []'),
        database=fail_with(person_disambiguation_tool.FAILURE, GRACE),
        model=Hole("names are compared as strings"),
        pause=Pause(
            Ask({"person_name": "Ada Byron"}, '"status": "confirmed"'),
            [{"option_ids": ["o2"]}],
            failing=[{"option_ids": ["o2"]}],
        ),
    ),
    ToolCase(
        tool=transfer_to_knowledge_base.NAME,
        success=HANDOVER,
        miss=Ask({}, '"status": "miss"', user=BARE_USER),
        database=NOT_CHECKED,
        model=NOT_CHECKED,
        pause=Hole("it has no arguments that could be missing"),
        prepare=prepare_research,
        stage="knowledge",
        table="knowledge_chunks",
    ),
    ToolCase(
        tool=request_clarification_tool.NAME,
        success=QUESTION,
        miss=Ask({"questions": [ask_openly("  ")]}, request_clarification_tool.NO_QUESTION, "error"),
        database=Hole("the questions are all it has"),
        model=Hole("the questions are the agent's own"),
        pause=QUESTION,
    ),
]
ROWS = {case.tool: case for case in CASES}
