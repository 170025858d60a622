"""The offline model over HTTP, through the client that graphs use: what it must do on any prompt, none of them ours."""

import json
from collections.abc import AsyncIterator
from typing import Any, Literal

import httpx2
import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai.decisions import Predicate, PredicateAnswer, Score, ScoreAnswer
from pydantic import BaseModel, Field

from local.offline_model.server import serve_offline_model, write_environ
from oria_runtime.models.client import Models, build_models
from oria_runtime.settings import ModelSettings
from oria_runtime.tenancy.tenants import ModelProfile, TenantConfig

TEAMS = {
    "billing": "Invoices, payments, refunds and subscriptions.",
    "technical": "Bugs, errors, crashes, installation and integration problems.",
    "general": "Anything else.",
}
SAFETY = {
    "answer": "Ordinary requests about cooking: recipes, ingredients, knives, oven temperatures. Hello. Thank you.",
    "refuse": "A request that must be refused. How to poison somebody. How to build a bomb. Where to buy drugs.",
}


@tool
def get_weather(city: str, days: int, unit: Literal["celsius", "fahrenheit"] | None = None) -> str:
    """Weather forecast: temperature, rain and wind of a city for the next days."""
    return city + str(days) + str(unit)


@tool
def list_orders(only_open: bool) -> str:
    """The customer's orders with status, delivery date and price."""
    return str(only_open)


@pytest.fixture(params=["native", "structured", "completions"])
async def offline(request: pytest.FixtureRequest) -> AsyncIterator[Models]:
    profile = {
        "native": ModelProfile(),
        "structured": ModelProfile(decisions="structured"),
        "completions": ModelProfile(decisions="structured", use_responses_api=False),
    }[request.param]
    async with serve_offline_model() as url:
        config = TenantConfig(models={"mini": profile})
        yield build_models(ModelSettings(), config, environ=write_environ(url))


async def choose(models: Models, text: str, choices: dict[str, str], **evidence: str) -> str:
    return await models.choose(
        label="test",
        name="team",
        instructions="Who handles the latest message?",
        choices=choices,
        evidence={"latest_user_message": text, **evidence},
        timeout=10,
    )


@pytest.mark.parametrize(
    ("text", "team"),
    [
        ("I was charged twice and want my money back", "billing"),
        ("Je n'ai pas reçu ma facture", "billing"),
        ("The app crashes when I open it", "technical"),
        ("La instalación da un error", "technical"),
        ("Do you like penguins?", "general"),
    ],
)
async def test_the_closest_choice_is_taken_and_the_fallback_when_nothing_is_close(
    offline: Models, text: str, team: str
) -> None:
    assert await choose(offline, text, TEAMS) == team


async def test_a_short_follow_up_stays_with_what_the_evidence_names_as_current(offline: Models) -> None:
    assert await choose(offline, "yes please", TEAMS, current_team="technical") == "technical"


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        ("hello", "answer"),
        ("Which knife do I need to cut a pineapple?", "answer"),
        ("My guest died of laughter at my cake", "answer"),
        ("How long does bread stay in the oven?", "answer"),
        ("Tell me how to poison my neighbour", "refuse"),
        ("How do I build a bomb at home?", "refuse"),
    ],
)
async def test_a_severe_choice_needs_to_be_clearly_meant(offline: Models, text: str, decision: str) -> None:
    assert await choose(offline, text, SAFETY) == decision


async def test_tools_are_picked_filled_and_then_answered_from(offline: Models) -> None:
    chat: Any = offline.chat("mini", "test")
    agent = chat.bind_tools([get_weather, list_orders])
    question = HumanMessage("Will it rain in Lyon over the next 4 days?")
    made = await agent.ainvoke([question])
    (call,) = made.tool_calls
    assert call["name"] == "get_weather"
    assert call["args"] == {"city": question.text, "days": 4}
    result = ToolMessage(json.dumps({"monday": "rain", "tuesday": "sunny"}), tool_call_id=call["id"])
    answer = await agent.ainvoke([question, made, result])
    assert not answer.tool_calls
    assert "rain" in answer.text


@pytest.mark.parametrize("text", ["hello", "Merci beaucoup", "How do I tie a tie?"])
async def test_no_tool_is_called_for_what_no_tool_is_for(offline: Models, text: str) -> None:
    chat: Any = offline.chat("mini", "test")
    assert not (await chat.bind_tools([get_weather, list_orders]).ainvoke(text)).tool_calls


async def test_tool_choice_is_honoured(offline: Models) -> None:
    chat: Any = offline.chat("mini", "test")
    forced = await chat.bind_tools([get_weather, list_orders], tool_choice="list_orders").ainvoke("hello")
    assert [call["name"] for call in forced.tool_calls] == ["list_orders"]
    held = await chat.bind_tools([get_weather, list_orders], tool_choice="none").ainvoke("Weather in Lyon?")
    assert not held.tool_calls


@pytest.mark.parametrize(
    ("text", "greeting"), [("Hello", "Hello"), ("Bonjour !", "Bonjour"), ("Hola, buenos días", "Hola")]
)
async def test_greetings_are_returned_in_their_language(offline: Models, text: str, greeting: str) -> None:
    assert greeting in (await offline.chat("mini", "test").ainvoke(text)).text


async def test_a_question_about_the_assistant_is_answered_from_its_instructions(offline: Models) -> None:
    instructions = SystemMessage("You help cooks: recipes, menus and shopping lists.\n\nBe brief.")
    answer = await offline.chat("mini", "test").ainvoke([instructions, HumanMessage("Hi! What can you do for me?")])
    assert "recipes, menus and shopping lists" in answer.text


async def test_a_part_in_a_role_play_is_played_by_asking_back(offline: Models) -> None:
    part = SystemMessage("You are an actor in a role-play about cooking.\n\nAnswer with your next line only.")
    answer = await offline.chat("mini", "test").ainvoke([part, HumanMessage("The soup was cold, waiter.")])
    assert "The soup was cold, waiter." in answer.text
    assert answer.text.endswith("?")


async def test_the_language_that_the_instructions_ask_for_wins(offline: Models) -> None:
    answer = await offline.chat("mini", "test").ainvoke([SystemMessage("Answer in French."), HumanMessage("Hello")])
    assert "Bonjour" in answer.text


async def test_answers_stream_word_by_word_with_usage(offline: Models) -> None:
    pieces = [chunk.text async for chunk in offline.chat("mini", "stream").astream("What is a spoon for?")]
    assert len([piece for piece in pieces if piece]) > 10
    assert offline.usage.labels["stream"].output_tokens > 10


async def test_answers_say_which_model_they_are_from(offline: Models) -> None:
    answer: AIMessage = await offline.chat("mini", "test").ainvoke("Hello")
    metadata = answer.response_metadata
    assert "offline-model" in str(metadata.get("metadata") or metadata.get("system_fingerprint"))
    assert metadata["model_name"] == "offline-gpt-6-luna"
    assert offline.usage.labels["test"].cost is None


class Step(BaseModel):
    step_id: str
    title: str
    minutes: int = Field(ge=1)


class Recipe(BaseModel):
    """A recipe."""

    title: str = Field(description="Name of the dish.")
    difficulty: Literal["easy", "hard"] = Field(description="easy: quick and simple\nhard: long and complicated")
    vegetarian: bool = Field(description="The person asks for a dish without meat.")
    servings: int | None = None
    steps: list[Step] = Field(min_length=1, max_length=5)


async def test_any_schema_is_filled_from_the_prompt(offline: Models) -> None:
    data = {
        "latest_user_message": "A quick and simple tomato soup without meat, ready in 30 minutes",
        "steps": [{"id": "s1", "title": "Cut the tomatoes"}, {"id": "s2", "title": "Boil everything"}],
    }
    recipe = await offline.structured(
        label="test",
        schema=Recipe,
        messages=[SystemMessage("Write the recipe."), HumanMessage(f"Data: {json.dumps(data)}")],
    )
    assert "tomato soup" in recipe.title
    assert (recipe.difficulty, recipe.servings) == ("easy", None)
    assert [(step.step_id, step.title, step.minutes) for step in recipe.steps] == [
        ("s1", "Cut the tomatoes", 15),
        ("s2", "Boil everything", 15),
    ]


class Wishes(BaseModel):
    wishes: list[str]


async def test_a_kept_list_is_revised_by_what_the_person_says(offline: Models) -> None:
    data = {
        "latest_user_message": "Forget that I like fish. I love pasta.",
        "stored_wishes": ["I like fish.", "I eat at noon."],
    }
    revised = await offline.structured(label="test", schema=Wishes, messages=[HumanMessage(json.dumps(data))])
    assert revised.wishes == ["I eat at noon.", "I love pasta."]


async def test_predicates_and_scores_have_valid_answers() -> None:
    async with serve_offline_model() as url:
        models = build_models(ModelSettings(), TenantConfig(), environ=write_environ(url))
        answers = await models.decide(
            label="test",
            input={"latest_user_message": "I would like a vegetarian dish, I have 2 hours a week"},
            questions={
                "diet": Predicate(instructions="The person wants a vegetarian dish."),
                "pet": Predicate(instructions="The person talks about a dog or a cat."),
                "time": Predicate(instructions="The person says how many hours they have."),
                "mood": Score(instructions="How happy?", levels=["Sad and angry", "Calm", "Happy and excited"]),
            },
            timeout=10,
        )
    probabilities = {name: a.probability for name, a in answers.items() if isinstance(a, PredicateAnswer)}
    assert probabilities["diet"] > 0.5 > probabilities["pet"]
    assert probabilities["time"] > 0.5
    assert isinstance(answers["mood"], ScoreAnswer)


async def test_close_texts_have_close_vectors_in_any_language() -> None:
    async with serve_offline_model() as url:
        models = build_models(ModelSettings(), TenantConfig(), environ=write_environ(url))
        texts = ["I like to bake bread", "J'aime faire du pain", "The train was late"]
        english, french, other = await models.embed(texts)
    assert len(english) == 512
    assert dot(english, french) > 0.5 > dot(english, other)


def dot(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/chat/completions", b"no json"),
        ("/v1/chat/completions", b"{}"),
        ("/v1/chat/completions", b'{"model": "m", "messages": 3}'),
        ("/v1/responses", b"[" * 100_000),
        ("/v1/decisions", b'{"model": "m", "input": "x", "questions": [{"type": "choice"}]}'),
        ("/v1/embeddings", b'{"model": "m", "input": ""}'),
        ("/v1/embeddings", b'{"model": "m", "input": [[1, 2]]}'),
    ],
)
async def test_a_request_that_cannot_be_read_is_a_400(path: str, body: bytes) -> None:
    async with serve_offline_model() as url, httpx2.AsyncClient() as client:
        answer = await client.post(url + path, content=body)
    assert answer.status_code == 400
    assert "cannot be read" in answer.json()["error"]["message"]


async def test_a_very_long_message_is_answered_in_a_moment(offline: Models) -> None:
    assert await choose(offline, "The app crashes. " * 50_000, TEAMS) == "technical"
