"""The people whom a name may mean, as a look-up keeps them over a pause and shows them."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypedDict

from langchain_core.messages import AnyMessage, ToolMessage

from graph.middleware.turns import find_turn_start
from graph.oria.state import SelectedPerson
from graph.oria.tools.clarification import clean
from graph.policy import PERSON_DETAIL_CHARACTERS
from oria_runtime.catalog.person_lookup import NameFit, PersonMatch, fold_name

# On the result message and not in its artifact: that one stands for a card, and expires.
CANDIDATES_KEY: Final = "candidate_ids"
CONFIRMED_KEY: Final = "confirmed_person"


class PersonCandidate(TypedDict):
    """A possible person. JSON only: the candidates are cached over a pause. `details` tells namesakes apart."""

    id: str
    name: str
    job_title: str | None
    details: str
    fit: NameFit


def build_candidates(matches: Sequence[PersonMatch]) -> list[PersonCandidate]:
    """The matches in their order, each with details that no other of the same name has."""
    details = describe_people(matches)
    return [
        PersonCandidate(
            id=match.person_id,
            name=match.name,
            job_title=match.job_title,
            details=details[match.person_id],
            fit=match.fit,
        )
        for match in matches
    ]


def describe_people(matches: Sequence[PersonMatch]) -> dict[str, str]:
    """Job title, department and location of each, by id; email and id only where those leave namesakes equal."""
    levels: Sequence[Callable[[PersonMatch], Sequence[str | None]]] = (
        list_position,
        lambda match: (*list_position(match), match.email),
        lambda match: (*list_position(match), match.email, match.person_id),
    )
    described: dict[str, str] = {}
    for level in levels:
        written = {match.person_id: ", ".join(filter(None, level(match))) for match in matches}
        shown = Counter((fold_name(match.name), fold_name(written[match.person_id])) for match in matches)
        for match in matches:
            text = written[match.person_id]
            if shown[fold_name(match.name), fold_name(text)] == 1:
                described.setdefault(match.person_id, text)
    return described


def list_position(match: PersonMatch) -> Sequence[str]:
    """Where the person works and as what; each cut, because the labels of options become part of the conversation."""
    known = (match.job_title, match.department, match.location)
    return [text[:PERSON_DETAIL_CHARACTERS] for part in known if (text := clean(part or ""))]


def narrow_candidates(candidates: Sequence[PersonCandidate]) -> list[PersonCandidate]:
    """The bearers of exactly the asked name, in any order of its words; everybody when there is none."""
    return [candidate for candidate in candidates if candidate["fit"] == "full"] or list(candidates)


def find_certain(candidates: Sequence[PersonCandidate]) -> PersonCandidate | None:
    """The only candidate, unless the name merely resembles: then it is the person's to say who was meant."""
    return candidates[0] if len(candidates) == 1 and candidates[0]["fit"] != "similar" else None


def label_candidate(candidate: PersonCandidate) -> str:
    """A candidate as the person reads it."""
    return f"{candidate['name']} ({candidate['details']})" if candidate["details"] else candidate["name"]


def list_offered(messages: Sequence[AnyMessage]) -> set[str]:
    """The ids of all candidates that look-ups in the window have listed."""
    marks = [message.additional_kwargs for message in messages if isinstance(message, ToolMessage)]
    return {offered for mark in marks for offered in mark.get(CANDIDATES_KEY, ())}


def find_confirmed(messages: Sequence[AnyMessage], turn_id: str, name: str) -> SelectedPerson | None:
    """The person whom this turn has confirmed under this name already."""
    for message in reversed(messages[find_turn_start(messages, turn_id) :]):
        mark: Mapping[str, Any] | None = message.additional_kwargs.get(CONFIRMED_KEY)
        if (
            isinstance(message, ToolMessage)
            and mark
            and fold_name(name) in map(fold_name, (mark["asked"], mark["name"]))
        ):
            return SelectedPerson(id=mark["id"], name=mark["name"])
    return None
