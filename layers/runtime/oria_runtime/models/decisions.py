"""Native decisions: the provider's `/v1/decisions` through langchain-openai, with every answer checked.

OpenAIDecisions takes what it gets: a choice that was not offered, a missing question, a distribution over something
else, and of two answers to one question the last (langchain-openai 1.7.4). A decision here steers safety and routing,
so the raw body is checked before it is parsed, and the answers against the questions after.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import httpx2
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config, merge_configs
from langchain_openai.decisions import (
    ChoiceAnswer,
    DecisionRequest,
    DecisionResponse,
    OpenAIDecisions,
    PredicateAnswer,
    Question,
    RefusalAnswer,
    ScoreAnswer,
    State,
)
from langchain_openai.decisions.base import _parse_response
from langchain_openai.decisions.types import Choice, Predicate
from pydantic import PrivateAttr

from oria_runtime.models.errors import DecisionUnavailableError, ModelMalformedError
from oria_runtime.models.failures import provider_errors
from oria_runtime.models.prices import Tokens
from oria_runtime.models.profiles import ResolvedProfile
from oria_runtime.models.providers import Endpoint
from oria_runtime.models.transport import MAX_RETRIES, TASK_HEADER, open_client
from oria_runtime.models.usage import Usage

Decision = ChoiceAnswer | PredicateAnswer | ScoreAnswer
# Providers round probabilities; a sum further off is not a distribution.
SUM_TOLERANCE = 0.01


class TaskDecisions(OpenAIDecisions):
    """OpenAIDecisions that counts the raw usage and rejects doubled answers before parsing drops them."""

    _count: Callable[[str, Tokens | None], None] = PrivateAttr()

    async def _adecide(self, request: DecisionRequest) -> DecisionResponse:
        payload = self._payload(request)
        with provider_errors():
            response = await self._async_client.post("/decisions", body=payload, cast_to=httpx2.Response)
            body = response.json()
            self._count(body["model"], read_tokens(body.get("usage") or {}))
            check_names([answer["name"] for answer in body["answers"]])
            return self._record_usage(_parse_response(cast(Any, response)))


async def ask_decisions(
    profile: ResolvedProfile,
    label: str,
    endpoint: Endpoint,
    usage: Usage,
    callbacks: Sequence[BaseCallbackHandler],
    *,
    input: State,
    questions: Mapping[str, Question],
) -> Mapping[str, Decision]:
    """Checked answers, one for each question. Raises DecisionUnavailableError and ModelError subclasses."""
    decisions = TaskDecisions(
        model=profile.model,
        base_url=endpoint.base_url,
        api_key=endpoint.read_key,
        http_async_client=open_client(),
        max_retries=MAX_RETRIES,
        default_headers={TASK_HEADER: label},
    )
    decisions._count = lambda served, tokens: usage.record(
        label, served, tokens, provider=profile.provider, price=profile.price, output_charged=False
    )
    request: DecisionRequest = {"input": input, "questions": dict(questions)}
    response = await decisions.ainvoke(request, name_run(label, callbacks))
    return check_answers(questions, response.answers)


def name_run(label: str, callbacks: Sequence[BaseCallbackHandler]) -> RunnableConfig:
    """The caller's config with the label; a plain `callbacks` entry would replace the handlers of the graph's run."""
    own: RunnableConfig = {"run_name": label, "tags": [label], "metadata": {"task": label}}
    if callbacks:
        own["callbacks"] = list(callbacks)
    return merge_configs(ensure_config(), own)


def read_tokens(usage: Mapping[str, Any]) -> Tokens | None:
    """The tokens of the `usage` object, which langchain-openai reads without cache details; None for an empty one."""
    if not usage:
        return None
    details = usage.get("input_tokens_details") or {}
    return Tokens(
        input=usage.get("input_tokens") or 0,
        cached=details.get("cached_tokens") or 0,
        cache_written=details.get("cache_write_tokens") or 0,
        output=usage.get("output_tokens") or 0,
    )


def check_names(names: Sequence[str]) -> None:
    """Raise when two answers have one name."""
    if len(set(names)) != len(names):
        raise ModelMalformedError("a question was answered twice")


def check_answers(questions: Mapping[str, Question], answers: Mapping[str, Any]) -> Mapping[str, Decision]:
    """The answers if they are exactly the questions' own. Raises DecisionUnavailableError."""
    if any(isinstance(answer, RefusalAnswer) for answer in answers.values()):
        raise DecisionUnavailableError("refusal")
    if set(answers) != set(questions):
        raise DecisionUnavailableError("malformed", "the answers are not those to the questions")
    for name, question in questions.items():
        check_answer(question, answers[name])
    return dict(answers)


def check_answer(question: Question, answer: Any) -> None:
    """Raise DecisionUnavailableError when an answer does not fit its question."""
    if isinstance(question, Predicate):
        fits = isinstance(answer, PredicateAnswer) and math.isfinite(answer.probability)
    elif isinstance(question, Choice):
        fits = (
            isinstance(answer, ChoiceAnswer)
            and answer.choice in question.choices
            and is_distribution(answer.probabilities, question.choices)
        )
    else:
        levels = range(len(question.levels))
        fits = (
            isinstance(answer, ScoreAnswer)
            and math.isfinite(answer.score)
            and is_distribution(answer.probabilities, levels)
        )
    if not fits:
        raise DecisionUnavailableError("malformed", "an answer does not fit its question")


def is_distribution(probabilities: Mapping[Any, float], values: Any) -> bool:
    """Whether these are finite probabilities over exactly those values that sum to one."""
    shares = list(probabilities.values())
    return (
        set(probabilities) == set(values)
        and all(math.isfinite(share) and 0.0 <= share <= 1.0 for share in shares)
        and abs(sum(shares) - 1.0) <= SUM_TOLERANCE
    )
