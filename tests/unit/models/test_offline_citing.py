"""How the offline model hears what is to be looked up, and answers by citing records."""

from typing import Any

import pytest

from local.offline_model.asking import QuestionSpace
from local.offline_model.citing import Citer, pick_status
from local.offline_model.embedder import Embedder
from local.offline_model.evidence import Evidence
from local.offline_model.lookups import Lookups, looks_up
from local.offline_model.replies import find_failure
from local.offline_model.schema_fields import Field

RECORDS = [
    {
        "key": "a",
        "title": "Bicycles",
        "body": "Bicycles stand in the yard.\nThe repair of a bicycle is paid once a year.",
    },
    {"key": "b", "title": "Canteen", "body": "Lunch is served from noon to two. On Fridays there is fish."},
]


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return Embedder()


def build_field(*ids: str) -> Field:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "state": {"type": "string", "enum": ["answered", "not_found"]},
            "text": {"type": "string"},
            "keys": {"type": "array", "items": {"type": "string", "enum": list(ids)}},
        },
    }
    return Field("", schema, schema)


@pytest.mark.parametrize(
    ("question", "other"),
    [
        ("Who repairs bicycles?", "When is lunch served?"),
        ("Qui répare les vélos ?", "Quand sert-on le déjeuner ?"),
        ("¿Quién repara bicicletas?", "¿Cuándo se sirve el almuerzo?"),
    ],
)
def test_questions_about_different_things_are_farther_apart_and_other_texts_as_they_were(
    embedder: Embedder, question: str, other: str
) -> None:
    texts = [question, other, "Bicycles are repaired in the workshop.", "One line.\nWhat for?"]
    plain, spaced = embedder.embed(texts), QuestionSpace(embedder).embed(texts)
    assert spaced[0] @ spaced[1] < plain[0] @ plain[1] - 0.1
    assert spaced[2:] == pytest.approx(plain[2:], abs=1e-6)
    assert spaced[0] @ spaced[0] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("question", "language"),
    [("Who pays when my bike is broken?", "en"), ("Qui paie la réparation de mon vélo ?", "fr")],
)
def test_an_answer_is_the_closest_sentences_with_the_ids_of_their_records(
    embedder: Embedder, question: str, language: str
) -> None:
    filled = Citer(embedder, Evidence(question, data={"read": RECORDS}), language).fill(build_field("a", "b"))
    assert filled is not None
    assert (filled["state"], filled["keys"]) == ("answered", ["a"])
    assert "The repair of a bicycle is paid once a year." in filled["text"]
    assert filled["text"].startswith("Voici") == (language == "fr")


def test_records_that_may_not_be_cited_are_not(embedder: Embedder) -> None:
    citer = Citer(embedder, Evidence("Who pays when my bike is broken?", data={"read": RECORDS}), "en")
    filled = citer.fill(build_field("b"))
    assert filled == {"state": "not_found", "text": "", "keys": []}


def test_nothing_close_is_no_answer(embedder: Embedder) -> None:
    citer = Citer(embedder, Evidence("How many moons has Saturn?", data={"read": RECORDS}), "en")
    assert citer.fill(build_field("a", "b")) == {"state": "not_found", "text": "", "keys": []}


def test_a_schema_that_cannot_say_no_is_none_for_citing(embedder: Embedder) -> None:
    field = build_field("a")
    field.schema["properties"]["state"]["enum"] = ["short", "long"]
    assert Citer(embedder, Evidence("Bicycles?", data={"read": RECORDS}), "en").fill(field) is None


def test_the_status_of_no_answer_is_known_by_its_word() -> None:
    assert pick_status(["supported", "miss"], found=False) == "miss"
    assert pick_status(["no_answer", "ok"], found=True) == "ok"


def test_questions_about_what_holds_differ_from_wishes_for_advice(embedder: Embedder) -> None:
    lookups = Lookups(embedder)
    assert all(map(lookups.asks, ["Who signs the form for a locker?", "Combien de jours pour un mariage ?"]))
    assert not any(map(lookups.asks, ["I feel stuck and tired.", "¿Qué harías en mi lugar?", "Thanks, bye!"]))


def test_a_tool_for_rules_and_procedures_looks_up_and_one_that_is_not_for_them_does_not() -> None:
    assert looks_up("Searches what was written down: a rule, a procedure or a deadline.")
    assert not looks_up("Reads a profile. It says nothing about rules, procedures or deadlines.")
    assert not looks_up("Sends a message.")


def test_a_look_up_without_success_is_told_from_other_results() -> None:
    assert find_failure('{"status": "miss", "note": "nothing there"}') == "missed"
    assert find_failure('{"status": "unavailable"}') == "unavailable"
    assert find_failure('{"status": "found", "items": [1]}') is None
    assert find_failure("Error: no.") is None
