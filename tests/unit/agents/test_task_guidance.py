"""The deterministic parts of the task guidance: its budget, and emoji codes."""

import pytest

from graph.oria.tools.task_helper.budget import choose_budget
from graph.oria.tools.task_helper.emoji_codes import write_emojis


@pytest.mark.parametrize(
    ("length", "tokens"), [(1, 1_000), (200, 1_000), (201, 1_400), (600, 1_400), (601, 1_800), (20_000, 1_800)]
)
def test_longer_questions_have_larger_budgets(length: int, tokens: int) -> None:
    assert choose_budget(f"  {'x' * length}\n") == tokens


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (":memo: Agenda", "📝 Agenda"),
        ("- :bulb: Tip\n- :date: Monday", "- 💡 Tip\n- 📅 Monday"),
        ("**:warning:** and :white_check_mark:", "**⚠️** and ✅"),
        (":Bar_Chart:", "📊"),
        ("📄 stays", "📄 stays"),
        (":no_such_emoji: stays", ":no_such_emoji: stays"),
        ("at 10:100:30, a:o:b and std::cool::x", "at 10:100:30, a:o:b and std::cool::x"),
        ("`:memo:` is written :memo:", "`:memo:` is written 📝"),
        ("```\nkey :memo:\n```\n:memo:", "```\nkey :memo:\n```\n📝"),
        ("```\nunclosed :memo:", "```\nunclosed :memo:"),
    ],
)
def test_emoji_codes_become_characters_outside_of_code(written: str, shown: str) -> None:
    assert write_emojis(written) == shown
