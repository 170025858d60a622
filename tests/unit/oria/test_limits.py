"""Limits of graph/policy.py that no other test reaches: they hold where they say, and waits fit into their stage."""

import ast
import json
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from pydantic import BaseModel, ValidationError

from graph import policy
from graph.oria.agents.knowledge_base.request import write_request as write_research_request
from graph.oria.tools.clarification import clean
from graph.oria.tools.get_jobs_tool import JobCodes, write_job
from graph.oria.tools.map_skills_tool import SkillLabels
from graph.oria.tools.opportunities.criteria import NO_CRITERIA, bound_criteria
from graph.oria.tools.opportunities.evidence import Wishes
from graph.oria.tools.opportunities.evidence import gather_evidence as gather_opportunity_evidence
from graph.oria.tools.opportunities.query import join_parts
from graph.oria.tools.profile_analysis.evidence import write_evidence
from graph.oria.tools.profile_analysis.narrative import build_narrative, tidy
from graph.oria.tools.profile_sections import select_sections
from graph.oria.tools.search_knowledge_sources import KnowledgeQuery
from graph.oria.tools.simulation import brief
from graph.oria.tools.talent.cards import build_item
from graph.oria.tools.talent.evidence import gather_evidence as gather_talent_evidence
from graph.oria.tools.talent.intent import TalentCriterion, TalentSearchIntent, bound_intent
from graph.oria.tools.talent.query import bound_query
from graph.oria.tools.task_helper.guidance import gather_context
from graph.oria.tools.training_finder.phases import count_minutes
from graph.oria.tools.training_finder.query import list_profile_terms, resolve_query
from graph.oria.tools.training_finder.request import Preparation, TrainingRequest
from graph.oria.window import answers_message
from oria_runtime.catalog.jobs import Job, JobSkill
from oria_runtime.catalog.opportunities import Opportunity
from oria_runtime.catalog.people import Profile
from oria_runtime.catalog.talent_search import Candidate, Criterion
from oria_runtime.catalog.trainings import Training
from oria_runtime.turns.invocation import MARGIN_SECONDS

LONG = "x" * 50_000
SKILLS = [{"code": f"s{number}", "label": f"Skill {number}", "level": 3} for number in range(60)]
STAGES = {"GATE", "SUPERVISOR", "SPECIALIST", "KNOWLEDGE", "MEMORY", "SPECIALIST_BUDGET"}


def read_seconds() -> dict[str, float]:
    """The deadlines inside stages, by name."""
    names = [name.removesuffix("_SECONDS") for name in vars(policy) if name.endswith("_SECONDS")]
    return {name: getattr(policy, f"{name}_SECONDS") for name in names if name not in STAGES}


def talk(count: int) -> list[AnyMessage]:
    return [kind(str(number)) for number in range(count) for kind in (HumanMessage, AIMessage)]


def test_what_a_supervisor_waits_for_fits_into_its_stage() -> None:
    seconds = read_seconds()
    assert seconds["ROUTING_DECISION"] + seconds["SUMMARY"] + MARGIN_SECONDS <= policy.SUPERVISOR_SECONDS


@pytest.mark.parametrize(
    "waits",
    [
        ["SCOPE", "SCOPE", "EMBEDDING", "PLAN_TEXT"],
        ["OPPORTUNITY_UNDERSTANDING", "OPPORTUNITY_UNDERSTANDING", "EMBEDDING", "EMBEDDING", "RATIONALE"],
        ["TALENT_CHANGE", "EMBEDDING", "RATIONALE", "TALENT_MISS"],
        ["SIMULATION_PARSE", "EMBEDDING", "SIMULATION_SCENARIO"],
        ["SIMULATION_ASSESSMENT"],
        ["TASK"],
        ["ANALYSIS_COPY"],
    ],
)
def test_what_a_tool_waits_for_fits_into_the_specialists_stage(waits: list[str]) -> None:
    assert sum(read_seconds()[wait] for wait in waits) + MARGIN_SECONDS < policy.SPECIALIST_SECONDS


def test_what_research_waits_for_fits_into_its_stage() -> None:
    seconds = read_seconds()
    waits = [seconds[f"KNOWLEDGE_{name}"] for name in ("RESEARCH", "SYNTHESIS", "COMMIT")]
    assert sum(waits) + MARGIN_SECONDS < policy.KNOWLEDGE_SECONDS
    assert 3 * seconds["KNOWLEDGE_PAGE"] < seconds["KNOWLEDGE_RESEARCH"]


def test_a_research_is_told_the_last_of_its_conversation() -> None:
    turn = SimpleNamespace(message=LONG)
    tenant = SimpleNamespace(name="Acme", config=SimpleNamespace(company_name=None))
    messages = [*talk(9), HumanMessage(LONG), AIMessage("Which one?"), answers_message("The second")]
    told = write_research_request(messages, cast("Any", SimpleNamespace(turn=turn, tenant=tenant))).text
    request = json.loads(told.partition(":\n")[2])
    assert len(request["latest_user_message"]) == 4_000
    said = [record["content"] for record in request["recent_conversation"]]
    assert said == [*"667788", "Which one?", "The second"]
    with pytest.raises(ValidationError):
        KnowledgeQuery(query=LONG)


def test_every_embedding_of_a_tool_has_a_deadline() -> None:
    found = [
        (path.name, [keyword.arg for keyword in node.keywords])
        for path in Path(policy.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "embed"
    ]
    assert {name for name, _ in found} >= {"embeddings.py", "get_objective_tool.py", "retrieval.py"}
    assert [name for name, keywords in found if "timeout" not in keywords] == []


def test_the_longest_part_of_an_analysis_is_its_copy() -> None:
    parts = {name: seconds for name, seconds in read_seconds().items() if name.startswith("ANALYSIS")}
    assert set(parts) == {"ANALYSIS_COPY", "ANALYSIS_OBJECTIVES", "ANALYSIS_ESTIMATE"}
    assert max(parts, key=lambda name: parts[name]) == "ANALYSIS_COPY"


def test_texts_of_questions_and_queries_are_cut() -> None:
    nothing = Preparation(profile={}, preferences=[], conversation=[])
    training = resolve_query(TrainingRequest(query=LONG, is_learning_plan=False), nothing, {})
    lengths = [len(clean(LONG)), len(training.text), len(join_parts([LONG]).text), len(bound_query(LONG))]
    assert lengths == [1_000, 2_000, 2_000, 2_000]


def test_criteria_are_cut() -> None:
    opportunity = bound_criteria(NO_CRITERIA.model_copy(update={"topic": LONG, "locations": [LONG]}))
    talent = bound_intent(TalentSearchIntent(criteria=[TalentCriterion(field="role", operator="any", values=[LONG])]))
    assert (len(opportunity.locations[0]), len(talent.criteria[0].values[0])) == (200, 200)
    assert len(opportunity.topic) == 1_000


def test_facts_of_the_profile_join_a_training_query_up_to_a_number() -> None:
    assert len(list_profile_terms({"gaps": [{"label": f"Gap {number}"} for number in range(30)]})) == 12


def test_a_profile_is_read_in_part_and_says_so() -> None:
    held = [{"title": f"Position {number}", "description": LONG[:20_000]} for number in range(60)]
    skills = [{"code": f"s{number}", "label": f"Skill {number}", "level": 3} for number in range(1_000)]
    profile = Profile.model_validate({"user_id": "u", "skills": skills, "experiences": held})
    read = select_sections(profile, ["need_skills", "need_experiences"])
    assert len(read["skills"]) > 200
    assert (len(read["skills"]) + read["skills_left_out"], read["gaps"]) == (1_000, [])
    assert len(read["experiences"]) + read["experiences_left_out"] == 60
    assert len(str(read)) < 50_000
    whole = select_sections(Profile.model_validate({"user_id": "u", "skills": skills[:200]}), ["need_skills"])
    assert len(whole["skills"]) == 200
    assert "skills_left_out" not in whole


def test_a_rationale_names_four_values_of_a_fact() -> None:
    labels = [str(skill["label"]) for skill in SKILLS]
    wishes = Wishes(NO_CRITERIA.model_copy(update={"skills": labels}), "", None)
    opening = Opportunity.model_validate({"id": "o", "language": "en", "title": "A", "kind": "job", "skills": SKILLS})
    [fact] = [fact for fact in gather_opportunity_evidence(opening, wishes).facts if fact.name == "skills"]
    intent = TalentSearchIntent(criteria=[TalentCriterion(field="skill", operator="any", values=labels)])
    candidate = Candidate.model_validate({"person_id": "p", "skills": SKILLS})
    [talent] = gather_talent_evidence(candidate, intent, [Criterion("skill", "any", labels)]).facts
    assert (len(fact.values), len(talent.values)) == (4, 4)


def test_a_card_of_people_shows_part_of_a_profile() -> None:
    experiences = [{"title": f"Post {number}"} for number in range(9)]
    item = build_item(Candidate.model_validate({"person_id": "p", "skills": SKILLS, "experiences": experiences}))
    assert (len(item["skills"]), len(item["experiences"])) == (20, 5)


@pytest.mark.parametrize(
    ("schema", "values"), [(JobCodes, {"job_codes": ["J"] * 21}), (SkillLabels, {"skill_labels": ["S"] * 51})]
)
def test_one_call_looks_up_a_bounded_number(schema: type[BaseModel], values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        schema.model_validate(values)
    assert schema.model_validate({name: given[1:] for name, given in values.items()})


def test_a_job_is_described_in_part() -> None:
    job = Job(code="J", title="Analyst", description=LONG, created_at=datetime(2026, 1, 1, tzinfo=UTC))
    assert len(write_job(job)["description"]) == 2_000


def test_a_task_is_told_the_last_of_its_conversation() -> None:
    assert [record["content"] for record in gather_context(None, talk(9))["conversation"]] == list("667788")


def test_a_practice_request_is_told_the_last_of_its_conversation() -> None:
    evidence = brief.write_evidence(LONG, None, talk(9))
    assert len(evidence["request"]) == 2_000
    assert [record["content"] for record in evidence["recent_conversation"]] == list("4455667788")


def test_a_training_of_unknown_length_takes_an_hour() -> None:
    assert count_minutes(Training(id="t", language="en", title="")) == 60


def test_the_evidence_of_an_analysis_is_a_part_of_the_profile() -> None:
    profile = Profile.model_validate(
        {
            "user_id": "u",
            "job_title": LONG,
            "skills": SKILLS,
            "objectives": [{"id": "o", "title": "Lead", "description": "y" * 5_000}] * 30,
            "experiences": [{"title": "Post"}] * 30,
            "training_history": [{"id": "t", "status": "planned"}] * 30,
            "interests": [f"Interest {number}" for number in range(30)],
        }
    )
    job = Job(
        code="J",
        title="A",
        skills=tuple(JobSkill.model_validate(skill) for skill in SKILLS),
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    evidence = write_evidence(profile, job, [])
    sizes = {name: len(value) for name, value in evidence.items() if isinstance(value, list)}
    assert sizes == {
        "skills": 40,
        "objectives": 10,
        "experiences": 8,
        "trainings": 20,
        "interests": 20,
        "job_requirements": 40,
    }
    assert len(evidence["job_title"]) == 100
    assert len(evidence["objectives"][0]["description"]) == 304
    assert len(build_narrative(profile, 0, "en").strengths) == 5
    assert len(tidy(LONG)) == 1_200
