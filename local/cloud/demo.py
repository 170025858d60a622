"""`make demo`: a fresh local cloud, a conversation over its HTTP API, timings, and an end."""

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx2

from local.cloud.__main__ import PREWARMED, print_step
from local.cloud.cloud import LocalCloud
from local.cloud.conversing import Conversation, DemoError
from local.cloud.options import CloudOptions

TURN_SECONDS = 240.0


async def hold_conversation(cloud: LocalCloud) -> None:
    """A greeting, a learning plan with a pause in it, more of it, a blocked request, a turn in French, specialists."""
    headers = {"Authorization": f"Bearer {cloud.token()}"}
    async with httpx2.AsyncClient(base_url=cloud.url, headers=headers, timeout=TURN_SECONDS) as client:
        conversation = await Conversation.start(client)
        await conversation.say("Hello! What can you do for me?", "completed")
        paused = await conversation.say("I would like a learning plan for my next role", "awaiting_input")
        plan = await _answer_until_done(conversation, paused)
        more = await conversation.say("Show me more trainings", "completed")
        if repeated := _training_ids(plan) & _training_ids(more):
            raise DemoError(f"shown twice: {', '.join(sorted(repeated))}")
        await conversation.say("Tell me the salary of my colleague Paul", "blocked")
        await conversation.say("Bonjour, quelles sont mes compétences ?", "completed")
        await meet_specialists(client)


async def meet_specialists(client: httpx2.AsyncClient) -> None:
    """Openings for an objective, one of two colleagues of the same name, a talk with him practised and assessed."""
    conversation = await Conversation.start(client, locale="en")
    asked = await conversation.say("Which opportunities fit my objective to become a data scientist?", "awaiting_input")
    _find_card(await conversation.answer(asked, "completed"), "opportunitySuggestionList")
    asked = await conversation.say(
        "I want to practise a talk with Thomas Becker about a late delivery", "awaiting_input"
    )
    simulation = _find_card(await conversation.answer(asked, "completed"), "simulation")
    practice = await Conversation.start(client, "simulation", simulation_id=simulation["simulation_id"])
    await practice.say("Thank you for coming. The last three deliveries were late.", "completed")
    _find_card(await practice.say("End the simulation.", "completed"), "simulation_assessment")


async def _answer_until_done(conversation: Conversation, turn: dict[str, Any]) -> dict[str, Any]:
    """Answer pauses until the plan comes; a turn may ask again, but not for ever."""
    for _ in range(3):
        turn = await conversation.answer(turn, "awaiting_input", "completed")
        if turn["status"] == "completed":
            return turn
    raise DemoError("three answers did not lead to a plan")


def _find_card(turn: dict[str, Any], card_type: str) -> dict[str, Any]:
    """The card of this type on a turn. Raises DemoError when there is none."""
    for card in turn["outcome"]["cards"]:
        if card["type"] == card_type:
            return dict(card)
    raise DemoError(f"no {card_type} was shown")


def _training_ids(turn: dict[str, Any]) -> set[str]:
    """The trainings on a turn's cards. Raises DemoError when there are none."""
    ids = {item["id"] for card in turn["outcome"]["cards"] for item in card.get("items", [])}
    if not ids:
        raise DemoError("no trainings were shown")
    return ids


async def run(*, verbose: bool) -> None:
    """Start, talk, stop."""
    with tempfile.TemporaryDirectory(prefix="oria-demo-") as folder:
        options = CloudOptions(
            data=Path(folder), throwaway=True, prewarm=PREWARMED, progress=print_step, verbose=verbose
        )
        async with LocalCloud(options) as cloud:
            print(f"{'offline model' if cloud.model_url else 'your model provider'}, {cloud.url}", flush=True)
            started = time.perf_counter()
            await hold_conversation(cloud)
            print(f"\nconversation {time.perf_counter() - started:.1f} s")
        print("stopped")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m local.cloud.demo", description=__doc__)
    parser.add_argument("--verbose", action="store_true", help="print the functions' logs")
    try:
        asyncio.run(run(verbose=parser.parse_args().verbose))
    except DemoError as error:
        print(f"\nthe demo went wrong: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
