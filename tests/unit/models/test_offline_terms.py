"""What the offline model hears in a request: names and their kinds, values of schemas, more of the same, replies."""

from typing import Any

import pytest

from local.offline_model.choices import Chooser
from local.offline_model.contrast import Contrast, has_examples
from local.offline_model.embedder import Embedder
from local.offline_model.evidence import Evidence, read_prompt_evidence
from local.offline_model.filling import Filler
from local.offline_model.names import find_codes, find_file
from local.offline_model.phrases import asks_more
from local.offline_model.terms import TermFinder
from local.offline_model.wire.prompts import Message, Prompt, ToolCall
from local.offline_model.words import WordSpace

TEXTS = {"type": "array", "items": {"type": "string"}}
CONDITIONS = {
    "type": "object",
    "required": ["conditions"],
    "properties": {
        "conditions": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["about", "match", "values"],
                "properties": {
                    "about": {"type": "string", "enum": ["town", "skill", "employer"]},
                    "match": {"type": "string", "enum": ["any", "all"]},
                    "values": TEXTS,
                },
            },
        }
    },
}


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return Embedder()


def fill(embedder: Embedder, schema: dict[str, Any], said: str, *earlier: str) -> Any:
    evidence = Evidence(said, earlier)
    return Filler(embedder, Chooser(embedder), evidence, "en").fill(schema)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Who in our office knows COBOL?", {"COBOL": "subject"}),
        ("Nurses in Geneva who worked for Renault", {"Geneva": "place", "Renault": "organisation"}),
        ("Qui parle polonais à Bordeaux ?", {"polonais": "subject", "Bordeaux": "place"}),
        ("¿Quién domina Blender en Sevilla?", {"Blender": "subject", "Sevilla": "place"}),
        ("Somebody of the Treasury department", {"Treasury": "department"}),
        ("What does a crane driver do here?", {"crane driver": "role"}),
        ("Let me talk with Helen about it", {}),
        ("Please help me with this.", {}),
    ],
)
def test_terms_are_heard_with_their_kinds(embedder: Embedder, text: str, terms: dict[str, str]) -> None:
    assert {term.text: term.kind for term in TermFinder(embedder).find(text)} == terms


def test_a_field_holds_the_terms_of_its_kind(embedder: Embedder) -> None:
    finder = TermFinder(embedder)
    assert [finder.name_kind(name) for name in ("locations", "skills", "companies", "preferences")] == [
        "place", "subject", "organisation", None,
    ]  # fmt: skip


def test_lists_hold_what_the_request_names_and_values_that_a_word_means(embedder: Embedder) -> None:
    enum = {"type": "array", "items": {"type": "string", "enum": ["invoice", "contract", "letter"]}}
    properties = {"locations": TEXTS, "kinds": enum, "skills": TEXTS}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    assert fill(embedder, schema, "Montre-moi les contrats à Bordeaux") == {
        "locations": ["Bordeaux"], "kinds": ["contract"], "skills": [],
    }  # fmt: skip


def test_conditions_are_one_for_each_term(embedder: Embedder) -> None:
    assert fill(embedder, CONDITIONS, "Who knows COBOL in Geneva?")["conditions"] == [
        {"about": "skill", "match": "any", "values": ["COBOL"]},
        {"about": "town", "match": "any", "values": ["Geneva"]},
    ]


def test_asking_for_more_turns_the_switch_on_and_keeps_the_subject(embedder: Embedder) -> None:
    properties = {"query": {"type": "string"}, "show_more": {"type": "boolean"}}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    first = "Who knows COBOL?"
    assert fill(embedder, schema, "And who else?", first) == {"query": first, "show_more": True}
    assert fill(embedder, schema, first) == {"query": first, "show_more": False}


@pytest.mark.parametrize("text", ["Others?", "D'autres ?", "¿Hay más?", "show me another one"])
def test_more_is_heard_in_three_languages(text: str) -> None:
    assert asks_more(text)
    assert not asks_more("I want to know more about how people in our company plan their holidays")


def test_a_reply_to_what_a_tool_asked_goes_on_with_its_request() -> None:
    call = ToolCall("c1", "look_up", "{}")
    messages = [
        Message("user", "Practise a talk with Chris"),
        Message("assistant", "", (call,)),
        Message("tool", '{"status": "confirmed"}', tool_call_id="c1"),
        Message("assistant", "Which Chris?"),
        Message("user", "Chris Doe, of the Treasury department"),
    ]
    evidence = read_prompt_evidence(Prompt("responses", "m", messages))
    assert (evidence.replies, evidence.subject) == (True, "Practise a talk with Chris")
    assert not read_prompt_evidence(Prompt("responses", "m", [*messages, Message("user", "Thanks")])).replies


def test_codes_and_files_are_found_where_they_stand() -> None:
    assert find_codes("job_codes", [("map_jobs", [{"job_code": "J1"}, {"job_code": None}, {"job_code": "J1"}])]) == [
        "J1"
    ]
    assert (find_file("Read report.pdf, please"), find_file("Read the report")) == ("report.pdf", "")


def test_choices_with_examples_are_told_apart(embedder: Embedder) -> None:
    fruit = "Peel an apple. Eat a pear. Buy bananas. Ripe plums. Sweet grapes. Fresh cherries. Cut a melon."
    tools = "Use a hammer. Turn a screw. Buy nails. Sharp saws. A strong drill. New pliers. Hold a wrench."
    assert has_examples({"fruit": fruit, "tools": tools})
    assert not has_examples({"fruit": fruit, "tools": "Hammers and nails."})
    scores = Contrast(embedder, [fruit, tools]).weigh("J'ai besoin d'un tournevis")
    assert scores[1] > scores[0]


def test_words_of_no_text_make_a_text_longer() -> None:
    space = WordSpace(["who knows this", "what is this"])
    known, diluted = space.embed(["who", "who ever"])
    assert known @ known == pytest.approx(1.0)
    assert 0 < diluted @ diluted < 1
