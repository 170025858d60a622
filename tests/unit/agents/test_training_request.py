"""What a training request states in words: durations, filters, and the query that is searched."""

from random import Random
from typing import Any

import pytest

from graph.oria.tools.training_finder.durations import read_minutes, read_weekly_minutes, read_weeks
from graph.oria.tools.training_finder.filters import resolve_filters
from graph.oria.tools.training_finder.phases import build_phases
from graph.oria.tools.training_finder.query import Query, resolve_query
from graph.oria.tools.training_finder.request import Preparation, TrainingRequest
from oria_runtime.catalog.search import TrainingFilters
from oria_runtime.catalog.trainings import Training

PROFILE = {
    "job_title": "Analyst",
    "gaps": [{"label": "Statistics"}],
    "objectives": [{"title": "Lead a team", "status": "current"}, {"title": "Old wish", "status": "archived"}],
}


@pytest.mark.parametrize(
    ("text", "weeks"),
    [
        ("3 months", 13), ("six weeks", 6), ("a month", 4), ("10 days", 1), ("2 days", 1), ("6-week", 6),
        ("trois mois", 13),        ("dos meses", 9), ("un an", 52), ("12 semanas", 12), ("soon", None), ("", None),
        ("4 hours a week for three months", 13), ("2 heures par semaine", None),
    ],
)  # fmt: skip
def test_plan_durations(text: str, weeks: int | None) -> None:
    assert read_weeks(text) == weeks


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("2 hours a week", 120), ("about 30 minutes per day", 150), ("1.5 h/week", 90), ("une heure par jour", 300),
        ("5 horas al mes", 69), ("deux heures par semaine", 120), ("in 3 months", None), ("an hour", None),
        ("4 days", None),
    ],
)  # fmt: skip
def test_available_time_needs_an_amount_and_a_period(text: str, minutes: int | None) -> None:
    assert read_weekly_minutes(text) == minutes


def test_minutes() -> None:
    assert [read_minutes(text) for text in ("2 hours", "45 min", "une heure", "long")] == [120, 45, 60, None]


@pytest.mark.parametrize(
    ("text", "filters"),
    [
        ("online courses on SQL for beginners", TrainingFilters(levels=["beginner"], formats=["online"])),
        ("online marketing", TrainingFilters()),
        ("advance my career in video editing", TrainingFilters()),
        ("advanced trainings under 2 hours", TrainingFilters(levels=["advanced"], max_minutes=120)),
        ("formations en ligne de moins de 30 minutes", TrainingFilters(formats=["online"], max_minutes=30)),
        ("not in person, please", TrainingFilters()),
        ("courses in French", TrainingFilters(languages=["fr"])),
        ("presenting in French", TrainingFilters()),
        ("cursos en línea para principiantes", TrainingFilters(levels=["beginner"], formats=["online"])),
    ],
)
def test_only_unmistakable_phrases_are_filters(text: str, filters: TrainingFilters) -> None:
    assert resolve_filters(text, is_plan=False) == filters


def test_durations_of_a_plan_filter_no_training() -> None:
    assert resolve_filters("a plan of at most 2 hours", is_plan=True) == TrainingFilters()


def resolve(answers: dict[str, str], **arguments: Any) -> str:
    request = TrainingRequest(query="data", is_learning_plan=True, **arguments)
    preparation: Preparation = {"profile": PROFILE, "preferences": [], "conversation": []}
    return resolve_query(request, preparation, answers).text


def test_answers_join_the_query_but_time_does_not() -> None:
    assert resolve({"target": "SQL", "background": "", "time": "2 hours a week"}) == "data. SQL"


def test_the_profile_joins_when_it_was_asked_for_or_nobody_named_a_target() -> None:
    assert resolve({}) == "data"
    assert resolve({}, need_skills=True) == "data. Statistics. Lead a team. Analyst"
    assert resolve({"target": "", "background": "new"}) == "data. new. Statistics. Lead a team. Analyst"


def test_words_that_every_request_has_are_not_matched() -> None:
    assert Query("", "I want a learning plan for C++ in 3 months").words == "I a for C++ in 3"


def test_what_only_the_profile_says_filters_nothing() -> None:
    request = TrainingRequest(query="advanced trainings for my gaps", is_learning_plan=False, need_skills=True)
    profile = {**PROFILE, "job_title": "Designer of e-learning", "gaps": [{"label": "Online courses"}]}
    query = resolve_query(request, {"profile": profile, "preferences": [], "conversation": []}, {"level": "in French"})
    assert "Online courses" in query.text
    assert resolve_filters(query.text, is_plan=False).formats == ["online"]
    assert resolve_filters(query.stated, is_plan=False) == TrainingFilters(levels=["advanced"])


def test_context_of_the_conversation_replaces_no_section() -> None:
    request = TrainingRequest(query="my gaps", is_learning_plan=False, need_skills=True, user_context="An analyst")
    assert request.list_sections() == ["need_skills"]


def test_a_plan_loads_its_sections() -> None:
    expected = ["need_basic_info", "need_skills", "need_objectives", "need_departments_interests"]
    assert TrainingRequest(query="q", is_learning_plan=True).list_sections() == expected
    assert TrainingRequest(query="q", is_learning_plan=True, user_context="A nurse").list_sections() == expected
    assert TrainingRequest(query="q", is_learning_plan=False, need_bookmarks=True).list_sections() == ["need_bookmarks"]


@pytest.mark.parametrize("seed", range(60))
def test_phases_keep_the_order_and_tile_the_weeks(seed: int) -> None:
    random = Random(seed)
    durations = [random.choice([None, random.randint(1, 2_000)]) for _ in range(random.randint(1, 12))]
    trainings = [
        Training(id=str(number), language="en", title="", duration_minutes=minutes)
        for number, minutes in enumerate(durations)
    ]
    weeks = random.choice([None, random.randint(1, 60)])
    weekly = random.choice([None, random.randint(10, 900)])
    phases = build_phases(trainings, weeks=weeks, weekly_minutes=weekly)
    planned = [training for phase in phases for training in phase.trainings]
    assert planned == trainings[: len(planned)]
    assert all(phase.trainings for phase in phases)
    assert phases[0].start_week == 1
    assert [later.start_week for later in phases[1:]] == [earlier.end_week + 1 for earlier in phases[:-1]]
    assert all(phase.start_week <= phase.end_week for phase in phases)
    assert weeks is None or phases[-1].end_week == weeks
    assert 1 <= len(phases) <= 3
    if weeks is not None and len(planned) > 3:
        assert sum(phase.minutes for phase in phases) <= weeks * (weekly or 120)
    if weeks is None:
        assert planned == trainings


def test_nothing_found_is_no_plan() -> None:
    assert build_phases([], weeks=4, weekly_minutes=60) == []
