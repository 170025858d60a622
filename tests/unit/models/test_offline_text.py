"""How the offline model cuts text, reads prompts and hears form."""

import pytest

from local.offline_model.evidence import read_data, read_prompt_evidence, read_text_evidence
from local.offline_model.names import find_id, find_name
from local.offline_model.phrases import asks, detect_language, find_duration_text, find_durations, read_asked_language
from local.offline_model.replies import cut, find_rule, list_lines
from local.offline_model.schema_fields import describe_values, explain
from local.offline_model.sentences import describe, split_clauses, split_sentences
from local.offline_model.wire.prompts import read_completion_prompt, read_responses_prompt


def test_a_description_is_its_sentences_and_their_clauses_without_exclusions() -> None:
    assert describe("Invoices, refunds and payments. Not for bugs.") == (
        "Invoices, refunds and payments.",
        "Invoices",
        "refunds",
        "payments",
    )


def test_list_marks_are_no_part_of_a_sentence() -> None:
    assert split_sentences("- One thing.\n2. Another!  And a third?") == ["One thing.", "Another!", "And a third?"]
    assert split_clauses("such as soup, or bread (fresh)") == ["soup", "bread", "fresh"]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("What is the time?", "en"),
        ("Quelle heure est-il pour vous ?", "fr"),
        ("¿Qué hora es para mí?", "es"),
        ("12:30", "en"),
    ],
)
def test_the_language_follows_the_small_words(text: str, language: str) -> None:
    assert detect_language(text) == language


def test_the_last_language_that_instructions_ask_for_counts() -> None:
    assert read_asked_language("Speak English. Now answer in Spanish.") == "es"
    assert read_asked_language("French is spoken in France.") is None


@pytest.mark.parametrize("text", ["Where is it", "Is it?", "Montre-moi le plan", "¿Cuál es?", "please find one"])
def test_questions_and_requests_are_heard_by_their_form(text: str) -> None:
    assert asks(text)


def test_statements_are_no_requests() -> None:
    assert not asks("I like it.")
    assert not asks("Je suis là")


def test_amounts_of_time_are_read_in_three_languages() -> None:
    found = find_durations("2 hours a week, trois mois, 30 minutos, 1.5 days")
    assert found == [(2.0, "hour"), (3.0, "month"), (30.0, "minute"), (1.5, "day")]
    assert find_duration_text("within 3 months or 2 weeks") == "2 weeks"


def test_the_latest_text_is_found_in_json_by_its_key_or_its_role() -> None:
    named = read_data(
        {"language": "en", "latest_user_message": "now", "messages": [{"role": "user", "text": "before"}]}
    )
    assert (named.latest, list(named.earlier)) == ("now", ["before"])
    spoken = read_data({"log": [{"role": "user", "content": "first"}, {"role": "assistant", "content": "no"},
                                {"role": "user", "content": "last"}]})  # fmt: skip
    assert (spoken.latest, list(spoken.earlier)) == ("last", ["first"])
    assert read_text_evidence("just words").latest == "just words"


def test_plain_messages_count_as_spoken_and_data_messages_do_not() -> None:
    prompt = read_completion_prompt(
        {
            "model": "m",
            "messages": [
                {"role": "system", "content": "Help."},
                {"role": "user", "content": 'Summary (data): {"summary": "old"}'},
                {"role": "user", "content": "a longer first question"},
                {"role": "assistant", "content": "yes"},
                {"role": "user", "content": "and more"},
            ],
        }
    )
    evidence = read_prompt_evidence(prompt)
    assert (evidence.latest, evidence.data) == ("and more", {"summary": "old"})
    assert evidence.request == "a longer first question. and more"


def test_both_wires_read_as_the_same_prompt() -> None:
    function = {"name": "look", "description": "Look.", "parameters": {"type": "object"}}
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    completion = read_completion_prompt(
        {
            "model": "m",
            "messages": [
                {"role": "developer", "content": "Help."},
                {"role": "user", "content": [{"type": "text", "text": "hi"}]},
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "c1", "content": "seen"},
            ],
            "tools": [{"type": "function", "function": function}],
            "tool_choice": {"type": "function", "function": {"name": "look"}},
        }
    )
    responses = read_responses_prompt(
        {
            "model": "m",
            "instructions": "Help.",
            "input": [
                {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
                {"type": "reasoning", "summary": []},
                {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c1", "output": "seen"},
            ],
            "tools": [{"type": "function", **function}],
            "tool_choice": {"type": "function", "name": "look"},
        }
    )
    assert completion.messages == responses.messages
    assert completion.tools == responses.tools
    assert completion.tool_choice == responses.tool_choice == "look"


def test_enum_values_are_explained_by_lines_and_brackets() -> None:
    instructions = "Choose:\n- red: like blood\n- `blue`: like the sea\nor `green` (like grass)."
    assert describe_values(["red", "blue", "green", "light_grey"], "", instructions) == {
        "red": "like blood",
        "blue": "like the sea",
        "green": "like grass",
        "light_grey": "light grey",
    }
    assert explain("pink", instructions) == "pink"


def test_the_rule_of_a_declared_case_is_found() -> None:
    rules = "Be kind.\n\n- case `stop`: refuse politely.\n- case `go`: ask something.\n\nThe case is `stop`."
    assert any("refuse politely" in sentence for sentence in find_rule(rules, "stop"))
    assert not any("ask" in sentence for sentence in find_rule(rules, "stop"))


def test_tool_results_become_lines_without_identifiers() -> None:
    assert list_lines('{"id": "7", "items": [{"name": "Soup", "tags": ["hot", "red"], "user_id": "u"}]}') == [
        "name: Soup; tags: hot, red"
    ]
    assert list_lines("Nothing found. Try again.") == ["Nothing found.", "Try again."]


def test_texts_are_cut_between_lines_at_the_output_budget() -> None:
    assert cut("one\ntwo\nthree", 2) == "one\ntwo"
    assert cut("one", None) == "one"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("How do I prepare a talk with Thomas Becker?", "Thomas Becker"),
        ("Is Esther van den Berg there? I want to meet her.", "Esther van den Berg"),
        ("Who is Zoë? Prepare something with Ana", "Ana"),
        ("Thomas Becker (Fleet manager, Hamburg)", "Thomas Becker"),
        ("Quiero hablar con José Muñoz", "José Muñoz"),
        ("I want to practise with him", ""),
    ],
)
def test_a_name_is_a_run_of_capitalised_words(text: str, name: str) -> None:
    assert find_name(text) == name


def test_an_identifier_is_copied_from_the_result_that_it_belongs_to() -> None:
    results = [
        ("get_objective_tool", {"id": "o-1", "title": "Lead"}),
        ("person_tool", {"status": "confirmed", "person": {"id": "p-2"}, "candidates": [{"id": "p-3"}]}),
    ]
    assert (find_id("objective_id", results), find_id("person_id", results)) == ("o-1", "p-2")
    assert find_id("job_id", results) == ""
