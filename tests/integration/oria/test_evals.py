"""The evaluation runner measures the product's own decisions, and counts a missing one as wrong."""

from evals.cases import load_cases, load_gate_cases
from evals.report import UNAVAILABLE, measure_accuracy, write_report
from evals.run import answer_all
from evals.sets import SETS
from oria_runtime.models.client import build_models
from oria_runtime.settings import ModelSettings
from oria_runtime.tenancy.tenants import TenantConfig
from tests.support.scripted_model import Script, choose, refuse


async def test_a_run_asks_every_case_once_and_reports_by_class(script: Script) -> None:
    script.on(label="langgraph.supervisor").reply(choose("career_chat"))
    models = build_models(ModelSettings(), TenantConfig(), environ=script.environ)
    results = await answer_all(SETS["routing"], models, parallel=4)
    expected = [case.expected for case in load_cases("routing")]
    assert script.count() == len(results) == len(expected)
    assert measure_accuracy(results) == expected.count("career_chat") / len(expected)
    report = write_report(results, models.usage, seconds=1.0)
    count = expected.count("career_chat")
    assert f"career_chat{'':<11}{count:>6}{count:>7}    100.0%" in report
    assert "training_finder → career_chat" in report
    assert f"calls {len(expected)}, " in report


async def test_a_case_without_an_answer_is_wrong(script: Script) -> None:
    script.on(label="langgraph.guardrails_decision").reply(refuse())
    models = build_models(ModelSettings(), TenantConfig(), environ=script.environ)
    results = await answer_all(SETS["gate"], models, parallel=4)
    assert {result.answer for result in results} == {UNAVAILABLE}
    assert len(results) == len(load_gate_cases())
    assert measure_accuracy(results) == 0
