"""Errors of the provider's SDK as errors of ours, and answers that are errors in disguise."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from oria_runtime.models.errors import (
    DecisionFailure,
    DecisionUnavailableError,
    ModelAccessError,
    ModelError,
    ModelIncompleteError,
    ModelMalformedError,
    ModelRefusalError,
    ModelRequestError,
    ModelTimeoutError,
    ModelUnavailableError,
)

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

REASONS: Mapping[type[ModelError], DecisionFailure] = {
    ModelTimeoutError: "timeout",
    ModelUnavailableError: "unavailable",
    ModelRefusalError: "refusal",
    ModelIncompleteError: "incomplete",
    ModelMalformedError: "malformed",
}


def read_decision_failure(error: ModelError) -> DecisionFailure:
    """The reason that a decision is unavailable; an invalid request or a wrong key is `rejected`."""
    if isinstance(error, DecisionUnavailableError):
        return error.reason
    return next((reason for kind, reason in REASONS.items() if isinstance(error, kind)), "rejected")


@contextmanager
def provider_errors() -> Iterator[None]:
    """Turn what the SDKs raise inside into ModelError; everything else, cancellation included, passes as it is."""
    import httpx2
    import openai
    from langchain_core.exceptions import ModelError as ChainModelError

    try:
        yield
    except ModelError:
        raise
    except (openai.OpenAIError, httpx2.HTTPError, ChainModelError, TimeoutError) as error:
        raise translate(error) from error
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        # How langchain-openai and the SDK report a body that is no answer: JSONDecodeError, pydantic's
        # ValidationError, `error` in a 200 body, a missing or null `choices`, a list where an object belongs.
        raise ModelMalformedError("the provider's answer could not be read") from error


def translate(error: Exception) -> ModelError:
    """The ModelError for an exception of openai, httpx2 or langchain-core."""
    import openai

    if isinstance(error, openai.APITimeoutError | TimeoutError):
        return ModelTimeoutError("the provider did not answer in time")
    if isinstance(error, openai.LengthFinishReasonError):
        return ModelIncompleteError("the answer exceeds its output budget")
    if isinstance(error, openai.ContentFilterFinishReasonError):
        return ModelRefusalError("a content filter stopped the answer")
    if isinstance(error, openai.APIResponseValidationError):
        return ModelMalformedError("the provider's answer could not be read")
    if isinstance(error, openai.APIStatusError):
        return translate_status(error.status_code)
    return ModelUnavailableError("the provider cannot be reached")


def translate_status(status: int) -> ModelError:
    """The ModelError for an HTTP status that the SDK no longer retries."""
    if status in {401, 403, 404}:
        return ModelAccessError(f"the provider refuses access to the model ({status})")
    if status in {408, 409, 429} or status >= 500:
        return ModelUnavailableError(f"the provider is not available ({status})")
    return ModelRequestError(f"the provider rejects the request ({status})")


def check_answer(message: "AIMessage", metadata: Mapping[str, Any]) -> None:
    """Raise for an answer that is a refusal, cut short, or calls tools unreadably; an empty one is an answer."""
    finish = metadata.get("finish_reason")
    cut = (metadata.get("incomplete_details") or {}).get("reason")
    if "content_filter" in (finish, cut) or has_refusal(message):
        raise ModelRefusalError("the model refused to answer")
    if finish == "length" or metadata.get("status") == "incomplete":
        raise ModelIncompleteError("the answer exceeds its output budget")
    if metadata.get("status") in {"failed", "cancelled"}:
        raise ModelUnavailableError("the provider gave up on the answer")
    if message.invalid_tool_calls or not all(map(is_readable, getattr(message, "tool_call_chunks", ()))):
        raise ModelMalformedError("the model called a tool with arguments that are not JSON")


def check_stream_end(metadata: Mapping[str, Any]) -> None:
    """Raise for a stream that stopped politely before its last event."""
    if not metadata.get("finish_reason") and not metadata.get("status"):
        raise ModelIncompleteError("the stream ended before the answer did")


def is_readable(call: Mapping[str, Any]) -> bool:
    """Whether the arguments of a streamed tool call are JSON; LangChain completes cut ones by guessing."""
    try:
        json.loads(call["args"] or "{}", strict=False)
    except ValueError:
        return False
    return True


def has_refusal(message: "AIMessage") -> bool:
    """Whether a refusal is in the message: beside the content (chat completions) or a block of it (responses)."""
    if message.additional_kwargs.get("refusal"):
        return True
    return isinstance(message.content, list) and any(is_refusal(block) for block in message.content)


def is_refusal(block: str | dict[str, Any]) -> bool:
    return isinstance(block, dict) and block.get("type") == "refusal"
