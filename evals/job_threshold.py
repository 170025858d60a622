"""Which similarity means the same job to the offline embedder: `python -m evals.job_threshold [--csv FILE] [--write]`.

ESCO names each occupation by a preferred title and alternative labels. Four fifths of the occupations are the library,
by their preferred titles alone; the labels of all are the questions, mapped as `map_jobs_tool` does: to the closest
title, if it is close enough. A mapping is right when the label belongs to that occupation. Labels of the occupations
that were left out of the library have no right mapping: whatever they are mapped to is wrong.

`--write` replaces the committed curve (`job_threshold.json`), which the configuration's value is tested against.
"""

import argparse
import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    from local.offline_model.embedder import Embedder

ROOT: Final = Path(__file__).parents[1]
ESCO: Final = ROOT.parent / "shared" / "data" / "esco" / "occupations_en.csv"
CURVE: Final = Path(__file__).with_suffix(".json")
# Every fifth occupation stays out of the library.
LEFT_OUT: Final = 5
THRESHOLDS: Final = [number / 100 for number in range(50, 100)]
# A wrong job is worse than none: without a code an agent goes on with the title, a wrong code it takes for a fact. F0.5
# counts precision twice as much as recall (van Rijsbergen, Information Retrieval, 1979).
BETA: Final = 0.5
BATCH: Final = 500


@dataclass(frozen=True)
class Occupation:
    """An occupation of ESCO."""

    title: str
    labels: Sequence[str]


@dataclass(frozen=True)
class Question:
    """A label with the titles of the library that it belongs to; none when its occupation was left out."""

    label: str
    titles: frozenset[str]


@dataclass(frozen=True)
class Mapped:
    """A question's closest title: how close it is, whether it is right, and whether a right one exists."""

    similarity: float
    right: bool
    known: bool


@dataclass(frozen=True)
class Point:
    """The curve at one threshold; `f05` is F-beta of BETA."""

    threshold: float
    precision: float
    recall: float
    f1: float
    f05: float


def read_occupations(path: Path) -> list[Occupation]:
    """The occupations of ESCO's CSV file, whose alternative labels stand on lines of one cell."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [Occupation(row["preferredLabel"], [*filter(None, row["altLabels"].split("\n"))]) for row in rows]


def build_questions(occupations: Sequence[Occupation], library: Sequence[str]) -> list[Question]:
    """Each alternative label once. One that is a title of the library, or of what was left out, asks nothing."""
    titles = {occupation.title for occupation in occupations}
    owners: dict[str, set[str]] = {}
    for occupation in occupations:
        for label in occupation.labels:
            owners.setdefault(label, set()).add(occupation.title)
    known = set(library)
    return [Question(label, frozenset(held & known)) for label, held in owners.items() if label not in titles]


def map_questions(questions: Sequence[Question], library: Sequence[str], embedder: "Embedder") -> list[Mapped]:
    """The closest title of every question."""
    import numpy as np

    titles = np.vstack(list(embed_batches(embedder, library)))
    mapped: list[Mapped] = []
    for start, vectors in enumerate(embed_batches(embedder, [question.label for question in questions])):
        similarities = vectors @ titles.T
        closest = similarities.argmax(axis=1)
        for row, question in enumerate(questions[start * BATCH : (start + 1) * BATCH]):
            right = library[closest[row]] in question.titles
            mapped.append(Mapped(float(similarities[row, closest[row]]), right, bool(question.titles)))
    return mapped


def embed_batches(embedder: "Embedder", texts: Sequence[str]) -> "Iterator[NDArray[float32]]":
    for start in range(0, len(texts), BATCH):
        yield embedder.embed(texts[start : start + BATCH])


def measure(mapped: Sequence[Mapped], threshold: float) -> Point:
    """Precision, recall and their means when what reaches the threshold is accepted."""
    accepted = [answer for answer in mapped if answer.similarity >= threshold]
    right = sum(answer.right for answer in accepted)
    precision = right / len(accepted) if accepted else 1.0
    recall = right / max(1, sum(answer.known for answer in mapped))
    return Point(
        threshold,
        precision=round(precision, 4),
        recall=round(recall, 4),
        f1=round(average(precision, recall, 1.0), 4),
        f05=round(average(precision, recall, BETA), 4),
    )


def average(precision: float, recall: float, beta: float) -> float:
    """F-beta."""
    weighted = beta**2 * precision + recall
    return (1 + beta**2) * precision * recall / weighted if weighted else 0.0


def choose_threshold(curve: Sequence[Point]) -> float:
    """The threshold with the best F0.5; the higher one of equals."""
    return max(curve, key=lambda point: (point.f05, point.threshold)).threshold


def read_curve(path: Path = CURVE) -> list[Point]:
    """The committed curve."""
    return [Point(**point) for point in json.loads(path.read_text(encoding="utf-8"))["curve"]]


def write_curve(curve: Sequence[Point], about: dict[str, Any], path: Path = CURVE) -> None:
    """The curve as a file that reads well in a review: one point a line."""
    lines = ",\n".join(f"    {json.dumps(vars(point))}" for point in curve)
    head = "".join(f"  {json.dumps(key)}: {json.dumps(value)},\n" for key, value in about.items())
    path.write_text(f'{{\n{head}  "curve": [\n{lines}\n  ]\n}}\n', encoding="utf-8")


def main() -> None:
    """Print the curve and the chosen threshold."""
    from local.cloud.configuration import OFFLINE_EMBEDDING_MODEL
    from local.offline_model.embedder import Embedder

    parser = argparse.ArgumentParser(prog="python -m evals.job_threshold", description=__doc__)
    parser.add_argument("--csv", type=Path, default=ESCO, help="ESCO's occupations_en.csv")
    parser.add_argument("--write", action="store_true", help="replace the committed curve")
    arguments = parser.parse_args()
    occupations = read_occupations(arguments.csv)
    library = [occupation.title for number, occupation in enumerate(occupations) if number % LEFT_OUT]
    questions = build_questions(occupations, library)
    mapped = map_questions(questions, library, Embedder())
    curve = [measure(mapped, threshold) for threshold in THRESHOLDS]
    print(f"{len(library)} titles, {len(questions)} labels, {sum(answer.known for answer in mapped)} of them known")
    print("threshold  precision  recall      F1    F0.5")
    for point in curve:
        print(f"{point.threshold:9.2f}  {point.precision:9.3f}  {point.recall:6.3f}  {point.f1:6.3f}  {point.f05:6.3f}")
    chosen = choose_threshold(curve)
    print(f"chosen for {OFFLINE_EMBEDDING_MODEL}: {chosen:.2f}")
    if arguments.write:
        about = {"model": OFFLINE_EMBEDDING_MODEL, "titles": len(library), "labels": len(questions)}
        write_curve(curve, about | {"known": sum(answer.known for answer in mapped), "chosen": chosen})


if __name__ == "__main__":
    main()
