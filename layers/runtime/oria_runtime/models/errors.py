"""What can go wrong with a model call, by what the caller can do about it.

    ModelError
    ├── ModelUnavailableError       retries are used up, or the provider does not answer: later it may
    │   └── ModelTimeoutError           the deadline of the call passed
    ├── ModelIncompleteError        the answer was cut: output budget, or a stream without its end
    ├── ModelMalformedError         the answer does not have the shape that was asked for
    ├── ModelRefusalError           the provider or the model declines; the same request will not succeed
    ├── ModelRequestError           the provider rejects the request itself (too long, invalid)
    ├── ModelAccessError            key, permission or model name: an operator must change something
    └── DecisionError
        └── DecisionUnavailableError    no decision can be had; `reason` says why

Cancellation is none of these and always passes.
"""

from typing import Literal

from oria_runtime.errors import OriaError

DecisionFailure = Literal["timeout", "unavailable", "refusal", "incomplete", "malformed", "rejected"]


class ModelError(OriaError):
    """Root: a model call gave no usable answer. The detail never holds prompt or answer text."""

    code = "model_error"


class ModelUnavailableError(ModelError):
    """Connection failures, 429 and 5xx after the last attempt, and streams that broke."""

    code = "model_unavailable"
    retryable = True


class ModelTimeoutError(ModelUnavailableError):
    """The deadline of the call, retry waits included, has passed."""

    code = "model_timeout"


class ModelIncompleteError(ModelError):
    """The answer ended before it was whole (`finish_reason` length, status incomplete, no end of stream)."""

    code = "model_incomplete"
    retryable = True


class ModelMalformedError(ModelError):
    """The answer is not JSON, not of the schema, or names arguments that cannot be read."""

    code = "model_malformed"
    retryable = True


class ModelRefusalError(ModelError):
    """The model refused, or a content filter stopped it."""

    code = "model_refusal"


class ModelRequestError(ModelError):
    """The provider calls the request invalid, for example because it exceeds the context window."""

    code = "model_request"


class ModelAccessError(ModelError):
    """The key, its rights or the model name are wrong."""

    code = "model_access"


class DecisionError(ModelError):
    """Root of what `Models.decide` and `Models.choose` raise."""

    code = "decision_error"


class DecisionUnavailableError(DecisionError):
    """There is no valid decision, and none is guessed: the turn stops (seeds/oria_orchestration.md, "Supervisor")."""

    code = "decision_unavailable"
    retryable = True

    def __init__(self, reason: DecisionFailure, detail: str = "") -> None:
        super().__init__(detail or f"no decision: {reason}")
        self.reason = reason
