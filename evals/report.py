"""What a run says: accuracy by class and language, the confusions, the wrong answers, and what it cost."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from evals.cases import Case
from oria_runtime.models.usage import Usage

UNAVAILABLE = "unavailable"
NAME_WIDTH = 22


@dataclass(frozen=True)
class Result:
    """A case and the class that came out; `unavailable` when no answer could be had."""

    case: Case
    answer: str

    @property
    def right(self) -> bool:
        return self.answer == self.case.expected


def measure_accuracy(results: Sequence[Result]) -> float:
    """The share of right answers, 1.0 for none asked."""
    return sum(result.right for result in results) / len(results) if results else 1.0


def write_report(results: Sequence[Result], usage: Usage, seconds: float) -> str:
    """The whole report as text."""
    return "\n".join(
        [
            *_write_table("class", results, lambda result: result.case.expected),
            "",
            *_write_table("language", results, lambda result: result.case.language),
            "",
            *_write_confusions(results),
            "",
            *_write_mistakes(results),
            *_write_cost(usage, seconds),
        ]
    )


def _write_table(title: str, results: Sequence[Result], key: Callable[[Result], str]) -> Iterable[str]:
    yield f"{title:<{NAME_WIDTH}}{'cases':>6}{'right':>7}{'accuracy':>10}"
    for name in sorted({key(result) for result in results}):
        yield _write_row(name, [result for result in results if key(result) == name])
    yield _write_row("all", results)


def _write_row(name: str, results: Sequence[Result]) -> str:
    right = sum(result.right for result in results)
    return f"{name:<{NAME_WIDTH}}{len(results):>6}{right:>7}{measure_accuracy(results):>10.1%}"


def _write_confusions(results: Sequence[Result]) -> Iterable[str]:
    """Rows are the right classes, columns what came out; a dot is none."""
    answers = sorted({result.answer for result in results})
    yield f"{'expected, answered':<{NAME_WIDTH}}{''.join(f'{answer:>{len(answer) + 2}}' for answer in answers)}"
    for expected in sorted({result.case.expected for result in results}):
        counts = Counter(result.answer for result in results if result.case.expected == expected)
        row = "".join(f"{counts[answer] or '.':>{len(answer) + 2}}" for answer in answers)
        yield f"{expected:<{NAME_WIDTH}}{row}"


def _write_mistakes(results: Sequence[Result]) -> Iterable[str]:
    for result in results:
        if not result.right:
            case = result.case
            yield f"wrong  {case.id:<{NAME_WIDTH}}{case.expected} → {result.answer}: {case.message}"


def _write_cost(usage: Usage, seconds: float) -> Iterable[str]:
    total = usage.total().as_json()
    cost = "unknown (no price for this model)" if total["cost"] is None else f"{total['cost']:.6f} USD"
    tokens = f"{total['input_tokens']} in ({total['cached_tokens']} cached), {total['output_tokens']} out"
    yield f"calls {total['calls']}, tokens {tokens}, cost {cost}, {seconds:.1f} s"
