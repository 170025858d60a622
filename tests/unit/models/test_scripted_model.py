"""The rules of the scripted model."""

from tests.support.model_instances import build_instance
from tests.support.scripted_model import Script, Seen, embed_text, say


def seen(label: str = "", endpoint: str = "responses", **body: str) -> Seen:
    return Seen(endpoint, label, body, 0.0)


def test_the_newest_matching_rule_wins_and_its_last_step_repeats() -> None:
    script = Script()
    one, two, three = say("1"), say("2"), say("3")
    script.on(label="langgraph.*").reply(one)
    script.on(label="langgraph.supervisor").reply(two, three)
    assert [script.take(seen("langgraph.supervisor")) for _ in range(3)] == [two, three, three]
    assert script.take(seen("langgraph.summary")) is one
    assert script.take(seen("other")) is None


def test_a_rule_with_a_bound_gives_way_to_the_one_behind_it() -> None:
    script = Script()
    usual, once = say("usual"), say("once")
    script.on().reply(usual)
    script.on(times=1).reply(once)
    assert [script.take(seen()) for _ in range(2)] == [once, usual]


def test_the_queue_goes_before_all_rules() -> None:
    script = Script()
    usual, first = say("usual"), say("first")
    script.on().reply(usual)
    script.queue(first)
    assert [script.take(seen()) for _ in range(2)] == [first, usual]


def test_requests_are_matched_by_text_endpoint_and_predicate() -> None:
    script = Script()
    script.requests += [
        seen("a", text="needle"),
        seen("b", endpoint="decisions"),
        seen("c", endpoint="chat/completions"),
    ]
    assert script.count(text="needle") == 1
    assert script.count(endpoint="chat") == 2
    assert script.count(where=lambda request: request.label != "a") == 2


def test_equal_texts_have_equal_unit_vectors_and_others_are_far() -> None:
    one, same, other = embed_text("one"), embed_text("one"), embed_text("two")
    assert one == same
    assert abs(sum(number * number for number in one) - 1) < 1e-9
    assert abs(sum(a * b for a, b in zip(one, other, strict=True))) < 0.3


def test_the_least_instance_fits_its_schema() -> None:
    schema = {
        "type": "object",
        "properties": {
            "mode": {"enum": ["x", "y"]},
            "items": {"type": "array", "items": {"$ref": "#/$defs/Item"}, "minItems": 2},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
        "required": ["mode", "items", "note"],
        "$defs": {
            "Item": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 3}}, "required": ["n"]}
        },
    }
    assert build_instance(schema) == {"mode": "x", "items": [{"n": 3}, {"n": 3}], "note": None}
