"""What a simulation sends to models, as reviewed files (UPDATE_SNAPSHOTS=1 writes them anew)."""

import re
from pathlib import Path

from tests.integration.agents.test_requests import show
from tests.support.scripted_model import Script, give
from tests.support.simulations import ASSESSMENT, COUNTERPART, DRAFT, PARSE, SimulationEngine, judgement
from tests.support.snapshots import assert_snapshot

SNAPSHOTS = Path(__file__).parent / "snapshots"


async def test_requests_of_a_suggestion(engine: SimulationEngine, script: Script) -> None:
    await engine.add_person()
    await engine.suggest(locale="fr")
    requests = [show(seen) for label in (PARSE, DRAFT) for seen in script.seen(label=label)]
    assert_snapshot(SNAPSHOTS / "suggestion.json", requests)


async def test_requests_of_a_role_play(engine: SimulationEngine, script: Script) -> None:
    await engine.begin()
    await engine.play(2)
    script.on(label=ASSESSMENT).reply(give(judgement()))
    await engine.run("End the simulation")
    requests = [show(script.seen(label=COUNTERPART)[-1]), *(show(seen) for seen in script.seen(label=ASSESSMENT))]
    assert not re.search("[0-9a-f]{8}-[0-9a-f]{4}", str(requests))
    assert_snapshot(SNAPSHOTS / "role_play.json", requests)
