"""Errors of the provider's SDK as errors of ours, and answers that are errors in disguise."""

import json
import sys
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

SDKS = frozenset({"openai", "anthropic"})
# What providers call a prompt or an answer that their own safety rules stop (Azure: learn.microsoft.com, "Content
# filtering"; OpenAI: invalid_prompt).
REFUSED = frozenset({"content_filter", "ResponsibleAIPolicyViolation", "content_policy_violation", "invalid_prompt"})
# https://platform.claude.com/docs/en/api/errors
STREAMED: Mapping[str, int] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "rate_limit_error": 429,
    "overloaded_error": 529,
}

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
    try:
        yield
    except ModelError:
        raise
    except list_foreign() as error:
        raise translate(error) from error
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        # How LangChain and the SDKs report a body that is no answer: JSONDecodeError, pydantic's ValidationError,
        # `error` in a 200 body, a missing or null `choices`, a list where an object belongs.
        raise ModelMalformedError("the provider's answer could not be read") from error


def list_foreign() -> tuple[type[Exception], ...]:
    """What a call may raise that is not ours: the roots of the SDKs that this process has imported, and of what is
    below and above them."""
    import httpx2
    from langchain_core.exceptions import ModelError as ChainModelError

    roots = {"openai": "OpenAIError", "anthropic": "AnthropicError"}
    loaded = (getattr(sys.modules[name], root) for name, root in roots.items() if name in sys.modules)
    return (*loaded, httpx2.HTTPError, ChainModelError, TimeoutError)


def is_a(error: Exception, kind: str) -> bool:
    """Whether an error is of the class that both SDKs have under this name."""
    return any(base.__name__ == kind and base.__module__.partition(".")[0] in SDKS for base in type(error).__mro__)


def translate(error: Exception) -> ModelError:
    """The ModelError for an exception of an SDK, httpx2 or langchain-core."""
    if isinstance(error, TimeoutError) or is_a(error, "APITimeoutError"):
        return ModelTimeoutError("the provider did not answer in time")
    if is_a(error, "LengthFinishReasonError"):
        return ModelIncompleteError("the answer exceeds its output budget")
    if is_a(error, "ContentFilterFinishReasonError") or list_codes(error) & REFUSED:
        return ModelRefusalError("a content filter stopped the request or its answer")
    if is_a(error, "APIResponseValidationError"):
        return ModelMalformedError("the provider's answer could not be read")
    if is_a(error, "APIStatusError"):
        return translate_status(read_status(error))
    return ModelUnavailableError("the provider cannot be reached")


def list_codes(error: Exception) -> set[str]:
    """What the body of an error calls it; Azure repeats it inside, in more detail."""
    body = getattr(error, "body", None)
    found: set[str] = set()
    while isinstance(body, Mapping):
        found |= {str(body[name]) for name in ("code", "type") if body.get(name)}
        body = body.get("error") or body.get("innererror")
    return found


def read_status(error: Any) -> int:
    """The status of an error. One that Anthropic sends inside a stream came with a 200 and is known by its type."""
    if error.status_code >= 400:
        return int(error.status_code)
    return next((STREAMED[code] for code in list_codes(error) if code in STREAMED), 500)


def translate_status(status: int) -> ModelError:
    """The ModelError for an HTTP status that the SDK no longer retries."""
    if status in {401, 403, 404}:
        return ModelAccessError(f"the provider refuses access to the model ({status})")
    if status in {408, 409, 429} or status >= 500:
        return ModelUnavailableError(f"the provider is not available ({status})")
    return ModelRequestError(f"the provider rejects the request ({status})")


def check_answer(message: "AIMessage", metadata: Mapping[str, Any]) -> None:
    """Raise for an answer that is a refusal, cut short, or calls tools unreadably; an empty one is an answer."""
    cut = (metadata.get("incomplete_details") or {}).get("reason")
    ends = {metadata.get("finish_reason"), metadata.get("stop_reason"), cut}
    if ends & {"content_filter", "refusal"} or has_refusal(message):
        raise ModelRefusalError("the model refused to answer")
    if ends & {"length", "max_tokens", "model_context_window_exceeded"} or metadata.get("status") == "incomplete":
        raise ModelIncompleteError("the answer exceeds its output budget")
    if metadata.get("status") in {"failed", "cancelled"}:
        raise ModelUnavailableError("the provider gave up on the answer")
    if message.invalid_tool_calls or not all(map(is_readable, getattr(message, "tool_call_chunks", ()))):
        raise ModelMalformedError("the model called a tool with arguments that are not JSON")


def check_stream_end(metadata: Mapping[str, Any]) -> None:
    """Raise for a stream that stopped politely before its last event."""
    if not any(metadata.get(name) for name in ("finish_reason", "stop_reason", "status")):
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
