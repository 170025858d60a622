"""The public answer of a model, for agents and for nodes without any.

Apart from the agents' middleware, which imports `langchain.agents`: the gate of a simulation loads its whole graph.
"""

from collections.abc import Sequence

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage

from oria_runtime.db.text import clean_text
from oria_runtime.errors import StageFailedError
from oria_runtime.turns.progress import emit_delta


async def stream_answer(model: BaseChatModel, messages: Sequence[AnyMessage]) -> str:
    """The public answer, streamed as deltas. Raises StageFailedError when it is empty, ModelError when it is cut."""
    pieces: list[str] = []
    async for chunk in model.astream(list(messages)):
        if text := clean_text(str(chunk.text)):
            pieces.append(text)
            emit_delta(text)
    answer = "".join(pieces)
    if not answer.strip():
        raise StageFailedError("empty_answer", "the model wrote no answer")
    return answer
