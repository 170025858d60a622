"""The offline model is a demonstration, not a judge; this much it must reach (`make run` without a key).

The floors are a few points below what was measured: 90 % of the typical messages, 71 % of the hard ones and 67 % of
those that nobody looked at while descriptions, examples and model were improved. Both were 2 to 5 points higher while
no agent was there for the company's rules: questions about these are worth more than the puzzles that they cost.
"""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from evals.cases import Case
from evals.knowledge_cases import HELD_OUT, KNOWN, load_knowledge_cases
from evals.report import measure_accuracy
from evals.run import answer_all
from evals.sets import SETS
from graph.oria.agents import SPECIALISTS
from local.offline_model.server import serve_offline_model, write_environ
from oria_runtime.models.client import Models, build_models
from oria_runtime.settings import ModelSettings
from oria_runtime.tenancy.tenants import TenantConfig
from tests.integration.oria.conftest import STRUCTURED


@pytest.fixture(params=[{}, STRUCTURED], ids=["native", "structured"])
async def offline(request: Any) -> AsyncIterator[Models]:
    async with serve_offline_model() as url:
        config = TenantConfig.model_validate(request.param)
        yield build_models(ModelSettings(), config, environ=write_environ(url))


async def test_the_offline_model_tells_the_specialists_apart(offline: Models) -> None:
    results = await answer_all(SETS["routing"], offline, parallel=8)
    assert measure_accuracy(results) >= 0.87
    for agent in SPECIALISTS:
        assert measure_accuracy([result for result in results if result.case.expected == agent]) >= 0.75


@pytest.mark.parametrize("offline", [{}], ids=["native"], indirect=True)
async def test_the_offline_model_tells_them_apart_without_the_words_of_their_descriptions(offline: Models) -> None:
    hard = await answer_all(SETS["routing_hard"], offline, parallel=8)
    held_out = await answer_all(SETS["routing_held_out"], offline, parallel=8)
    assert measure_accuracy(hard) >= 0.70
    assert measure_accuracy(held_out) >= 0.63
    assert measure_accuracy([*hard, *held_out]) >= 0.67


@pytest.mark.parametrize("offline", [{}], ids=["native"], indirect=True)
async def test_questions_about_the_company_go_to_the_agent_that_can_have_them_looked_up(offline: Models) -> None:
    """No supervisor picks the Knowledge Base: what goes to another agent than Career Chat never reaches it.

    Measured: 61 of 90, and 41 while Career Chat's description did not name the company's rules.
    """
    asked = [case for name in (KNOWN, HELD_OUT) for case in load_knowledge_cases(name)]
    cases = [Case(case.id, case.language, case.question, "career_chat") for case in asked]
    case_set = replace(SETS["routing"], load=lambda: cases)
    assert measure_accuracy(await answer_all(case_set, offline, parallel=8)) >= 0.60


async def test_the_offline_model_blocks_no_ordinary_message(offline: Models) -> None:
    results = await answer_all(SETS["gate"], offline, parallel=8)
    ordinary = [result for result in results if result.case.expected == "allow"]
    assert [result for result in ordinary if result.answer != "allow"] == []
