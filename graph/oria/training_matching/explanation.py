"""The explanation of one training: evidence by code, its wording by a model, the fixed form where that fails."""

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from graph.oria.tools.rationales import Phrasing, Subject, write_rationales
from graph.oria.training_matching.evidence import gather_evidence, read_matter
from graph.oria.training_matching.texts import list_facts
from oria_runtime.catalog.training_rationale import TrainingQuestion, TrainingRationale
from oria_runtime.errors import ConfigurationError, NotFoundError

if TYPE_CHECKING:
    from oria_runtime.db.pool import TenantDatabase
    from oria_runtime.models.client import Models

logger = logging.getLogger(__name__)

LABEL: Final = "training_matching.rationale"


async def explain_training(
    question: TrainingQuestion, *, database: "TenantDatabase", models: "Models"
) -> TrainingRationale:
    """Raises NotFoundError for a training that the tenant does not have; a model that fails costs only its wording."""
    async with database.transaction() as connection:
        matter = await read_matter(connection, question.training_id, question.user_id)
    if matter is None:
        raise NotFoundError("There is no such training.")
    evidence = gather_evidence(matter, question.search_query)
    facts: dict[str, Sequence[str]] = {fact.name: fact.values for fact in evidence.facts}
    subject = Subject(facts, evidence.unsupported, list_facts(facts, question.locale))
    text = await phrase(subject, matter.training.title, models, question.locale)
    return TrainingRationale(
        training_id=matter.training.id,
        title=matter.training.title,
        text=text,
        facts=[{"name": name, "values": values} for name, values in facts.items()],
        source="facts" if text == subject.listed else "model",
        usage=models.usage.as_json(),
    )


async def phrase(subject: Subject, title: str, models: "Models", locale: str) -> str:
    """The model's sentences, or the fixed form.

    A profile whose SDK this function's layers have no room for (docs/decisions.md) is configured well everywhere else:
    it gets the fixed form too.
    """
    phrasing = Phrasing(LABEL, "training_matching/rationale", title, "trainings")
    try:
        (text,) = await write_rationales([subject], phrasing, models=models, locale=locale)
    except ConfigurationError as error:
        logger.error("the model of rationales cannot be called: listing the facts", extra={"detail": error.detail})
        return subject.listed
    return text
