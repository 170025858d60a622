"""Whether a message asks what holds where the person works: a rule, an amount, a form, who is responsible.

Whoever wants advice, an opinion, a text or something about themselves asks in other words. Both kinds are told apart by
examples made up for that purpose, by a ridge regression (contrast.py): descriptions of tools say "a rule" or "a
procedure", which no such question is close to.
"""

import re
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from local.offline_model.contrast import fit
from local.offline_model.embedder import Embedder
from local.offline_model.sentences import sample_text

# What is looked up, in the words of descriptions; a tool that is for two of them is for all such questions.
LOOKED_UP: Final = re.compile(
    r"\b(?:rules?|polic(?:y|ies)|procedures?|benefits?|deadlines?|regulations?|guidelines?|facts?)\b", re.IGNORECASE
)
KINDS: Final = 2
# A description's last sentences say what a tool is not for.
EXCLUDING: Final = re.compile(r"\b(?:not (?:for|because)|nothing about|never)\b", re.IGNORECASE)
ASKS_WHAT_HOLDS: Final = (
    "How many days of rest am I entitled to after a night shift?",
    "Where do I hand in the form for a new parking permit?",
    "Who approves an invoice of a supplier?",
    "Is it allowed to bring a dog to work?",
    "What is the deadline for handing in a claim?",
    "Which documents do I need for a visa invitation?",
    "How do I register a visitor at the reception?",
    "Does the employer pay for glasses?",
    "What happens to my pension when I leave?",
    "Can I install a program on my computer myself?",
    "How do I reset the code of my telephone?",
    "Whom do I inform when I am late or ill?",
    "What is the procedure after an accident at work?",
    "How much does lunch in the canteen cost?",
    "Are fees for a language test reimbursed?",
    "What are the rules for taking pictures in the building?",
    "How do I get a key for the cupboard?",
    "When are wages paid at the end of the year?",
    "À combien de jours de repos ai-je droit après une mission ?",
    "Où faut-il déposer le formulaire de demande ?",
    "Qui doit valider une facture ?",
    "Est-il permis de fumer dans la cour ?",
    "Quel est le délai pour déclarer un accident ?",
    "Comment inscrire un visiteur à l'accueil ?",
    "L'entreprise prend-elle en charge les lunettes ?",
    "Peut-on garder le téléphone de service le week-end ?",
    "Quels papiers dois-je fournir pour la mutuelle ?",
    "Comment commander une chaise de bureau ?",
    "Quelle est la procédure en cas de panne de l'imprimante ?",
    "Combien coûte un repas à la cantine ?",
    "¿A cuántos días de descanso tengo derecho?",
    "¿Dónde se entrega el formulario de solicitud?",
    "¿Quién tiene que aprobar una factura?",
    "¿Está permitido traer un perro al trabajo?",
    "¿Cuál es el plazo para reclamar un gasto?",
    "¿Cómo registro a un visitante en la recepción?",
    "¿La empresa paga las gafas?",
    "¿Qué documentos necesito para el seguro?",
    "¿Cómo pido una silla para mi despacho?",
    "¿Qué pasa con mi pensión cuando me jubilo?",
    "¿Cuál es el procedimiento si se estropea la impresora?",
    "¿Se puede usar el coche de servicio el domingo?",
)
ASKS_OTHERWISE: Final = (
    "I feel tired of my job and do not know why.",
    "How do I find out what I really want to do?",
    "I am afraid of my next review with my boss.",
    "Should I accept the offer or stay where I am?",
    "My team does not listen to me, what would you do?",
    "How can I become more confident when I present?",
    "What are my strengths?",
    "What does my profile say about my languages?",
    "Help me write a letter to my manager.",
    "Please summarise the document that I uploaded.",
    "I want to practise a difficult talk with a colleague.",
    "What can you do for me?",
    "Tell me what to improve in my CV.",
    "Which job would suit me?",
    "What does an engineer need to know?",
    "How do I ask for more money without being rude?",
    "I would like to change my career at forty.",
    "How do I stay motivated in a boring project?",
    "We have a conflict and nobody talks about it.",
    "I can't say no when people ask me for favours.",
    "Je me sens perdu dans mon travail.",
    "J'ai peur de parler à mon chef.",
    "Comment retrouver confiance en moi ?",
    "Dois-je accepter cette proposition ou rester ?",
    "Quels sont mes points forts ?",
    "Aide-moi à rédiger une lettre.",
    "Je voudrais m'entraîner à une conversation difficile.",
    "Comment savoir quel métier me convient ?",
    "Mon collègue ne m'écoute jamais.",
    "Comment rester motivé quand tout m'ennuie ?",
    "Que peux-tu faire pour moi ?",
    "Je n'arrive pas à dire non.",
    "Me siento perdido en mi trabajo.",
    "Tengo miedo de hablar con mi jefe.",
    "¿Cómo recupero la confianza en mí mismo?",
    "¿Debo aceptar la oferta o quedarme?",
    "¿Cuáles son mis puntos fuertes?",
    "Ayúdame a redactar una carta.",
    "Quiero practicar una conversación difícil.",
    "¿Qué oficio me conviene?",
    "Mi compañero nunca me escucha.",
    "¿Cómo sigo motivado si todo me aburre?",
    "¿Qué puedes hacer por mí?",
    "No sé decir que no.",
)
LEAST: Final = 0.0


class Lookups:
    """Tells such questions and the tools for them; fitted at the first question."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @cached_property
    def _weights(self) -> NDArray[np.float64]:
        owners = np.array([0] * len(ASKS_WHAT_HOLDS) + [1] * len(ASKS_OTHERWISE))
        return fit(np.asarray(self._embedder.embed([*ASKS_WHAT_HOLDS, *ASKS_OTHERWISE]), np.float64), owners, 2)

    def weigh(self, text: str) -> float:
        """How much a message looks like such a question: above zero it is one."""
        rows = np.asarray(self._embedder.embed(sample_text(text)), np.float64)
        given = (rows @ self._weights).mean(axis=0) if len(rows) else np.zeros(2)
        return float(given[0] - given[1])

    def asks(self, text: str) -> bool:
        """Whether a message asks what holds."""
        return self.weigh(text) > LEAST


def looks_up(description: str) -> bool:
    """Whether a tool of this description is for such questions."""
    wanted = EXCLUDING.split(" ".join(description.split()), maxsplit=1)[0]
    return len({word.casefold() for word in LOOKED_UP.findall(wanted)}) >= KINDS
