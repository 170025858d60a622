"""How long a guidance may be: longer questions describe larger tasks (seeds/oria_tools.md, task_helper_tool)."""

from graph.policy import (
    TASK_LARGE_TOKENS,
    TASK_LONG_QUESTION,
    TASK_MEDIUM_TOKENS,
    TASK_SHORT_QUESTION,
    TASK_SMALL_TOKENS,
)


def choose_budget(question: str) -> int:
    """The output tokens for a question."""
    length = len(question.strip())
    if length <= TASK_SHORT_QUESTION:
        return TASK_SMALL_TOKENS
    return TASK_MEDIUM_TOKENS if length <= TASK_LONG_QUESTION else TASK_LARGE_TOKENS
