"""The deterministic parts of the profile analysis: normalized evidence, gaps by priority, words without a model."""

import re
from datetime import UTC, datetime

import pytest

from graph.oria.tools.profile_analysis import texts
from graph.oria.tools.profile_analysis.card import build_card, build_topics, write_text
from graph.oria.tools.profile_analysis.evidence import list_gaps, normalize, write_evidence
from graph.oria.tools.profile_analysis.narrative import build_narrative
from graph.oria.untrusted import encode_data
from oria_runtime.catalog.jobs import Job, JobSkill
from oria_runtime.catalog.people import Profile

CREATED = datetime(2026, 1, 1, tzinfo=UTC)
JOB = Job(
    code="J1",
    title="Analyst",
    skills=(
        JobSkill(code="sql", label="SQL", level=4, weight=1),
        JobSkill(code="py", label="Python", level=3, weight=3),
    ),
    created_at=CREATED,
)


def build_profile(**sections: object) -> Profile:
    return Profile.model_validate({"user_id": "u-1", "job_title": "Analyst", **sections})


def test_a_profile_is_normalized() -> None:
    profile = normalize(
        build_profile(
            skills=[{"code": "a", "level": 1}, {"code": "b"}, {"code": "a", "level": 4}, {"code": "c", "level": 5}],
            gaps=[
                {"code": "a", "level": 4, "target_level": 4},
                {"code": "d", "level": 1, "target_level": 3},
                {"code": "d", "level": 1, "target_level": 3},
            ],
        )
    )
    assert [(skill.code, skill.level) for skill in profile.skills] == [("c", 5), ("a", 4), ("b", None)]
    assert [gap.code for gap in profile.gaps] == ["d"]


def test_gaps_are_ordered_by_the_jobs_weights_and_then_by_distance() -> None:
    gaps = [
        {"code": "near", "level": 2, "target_level": 3},
        {"code": "far", "level": 0, "target_level": 4},
        {"code": "py", "level": 2, "target_level": 3},
    ]
    assert [gap.code for gap in list_gaps(build_profile(gaps=gaps), JOB)] == ["py", "far", "near"]
    assert [gap.code for gap in list_gaps(build_profile(gaps=gaps), None)] == ["far", "near", "py"]


def test_without_recorded_gaps_the_uncovered_skills_of_the_job_are_them() -> None:
    profile = build_profile(skills=[{"code": "sql", "level": 2}])
    assert [(gap.code, gap.level, gap.target_level) for gap in list_gaps(profile, JOB)] == [
        ("py", None, 3),
        ("sql", 2, 4),
    ]
    assert list_gaps(build_profile(), JOB) == []
    assert list_gaps(profile, None) == []


def test_there_are_six_gaps_at_most() -> None:
    gaps = [{"code": f"g{number}", "target_level": 3} for number in range(9)]
    assert len(list_gaps(build_profile(gaps=gaps), None)) == 6


def test_the_largest_profile_fits_in_a_prompt() -> None:
    long = "x" * 200
    profile = normalize(
        build_profile(
            first_name="Ada",
            email="ada@acme.example",
            skills=[{"code": f"{number}{long}", "label": long, "level": 3} for number in range(1_000)],
            gaps=[{"code": f"{number}{long}", "label": long, "target_level": 3} for number in range(1_000)],
            objectives=[{"id": "o", "title": long, "description": long * 50}] * 1_000,
            experiences=[{"title": long, "company": long, "description": long * 50}] * 1_000,
            interests=[long] * 1_000,
            training_history=[{"id": "t", "title": long, "status": "completed"}] * 1_000,
        )
    )
    skills = tuple(JobSkill(code=f"{number}", label=long, level=3) for number in range(500))
    job = JOB.model_copy(update={"skills": skills})
    evidence = encode_data(write_evidence(profile, job, list_gaps(profile, job)))
    assert len(evidence) < 28_000
    assert "Ada" not in evidence
    assert "acme.example" not in evidence
    assert "u-1" not in evidence


def test_archived_objectives_are_no_evidence() -> None:
    objectives = [{"id": "1", "title": "Lead"}, {"id": "2", "title": "Old", "status": "archived"}]
    evidence = write_evidence(build_profile(objectives=objectives), None, [])
    assert evidence["objectives"] == [{"title": "Lead", "description": ""}]


@pytest.mark.parametrize(
    ("locale", "word"), [("en", "You work as"), ("fr", "Vous occupez"), ("es", "Su puesto actual")]
)
def test_the_words_without_a_model_come_from_the_data_in_the_persons_language(locale: str, word: str) -> None:
    skills = [{"code": "sql", "label": "SQL", "level": 4}, {"code": "py", "label": "Python", "level": 0}, {"code": "c"}]
    narrative = build_narrative(normalize(build_profile(skills=skills)), 2, locale)
    assert narrative.summary.startswith(word)
    assert "Analyst" in narrative.summary
    assert narrative.strengths == ["SQL", "c"]
    assert not narrative.generated
    assert "Analyst" not in build_narrative(build_profile(job_title=None, interests=["art"]), 0, locale).summary


@pytest.mark.parametrize("name", [name for name in vars(texts) if name.isupper()])
def test_fixed_texts_say_the_same_in_three_languages(name: str) -> None:
    written = getattr(texts, name)
    assert list(written) == ["en", "fr", "es"]
    assert len({tuple(sorted(re.findall(r"{\w+}", text))) for text in written.values()}) == 1


def test_a_card_without_figure_gaps_and_strengths_is_still_one() -> None:
    profile = build_profile(job_title=None, interests=["art"])
    card = build_card(build_narrative(profile, 0, "en"), None, build_topics([], {}), job_title=None, locale="en")
    assert (card["alignment"], card["topics"]) == (None, [])
    assert write_text(card, "en") == f"**Your profile analysis**\n\n{card['narrative']['summary']}"
