"""The few words of its own that the offline model has, in English, French and Spanish, and how it hears form.

Everything else it says comes from what it is given.
"""

import re
from collections.abc import Mapping, Sequence

from local.offline_model.sentences import list_words

Language = str
LANGUAGES = ("en", "fr", "es")

# By what the answer is; all of them are messages without a request.
GREETINGS: Mapping[str, Sequence[str]] = {
    "greeting": (
        "hello",
        "hi there",
        "good morning",
        "how are you",
        "bonjour",
        "salut",
        "bonsoir",
        "hola",
        "buenos días",
    ),
    "thanks": ("thanks", "thank you very much", "merci beaucoup", "muchas gracias"),
    "farewell": ("goodbye", "see you later", "au revoir", "hasta luego"),
}
GREETING_WORDS = 6
GREETING_CLOSE = 0.62

# Questions about the assistant itself, which its instructions answer.
ABILITY_QUESTIONS = (
    "what can you do for me?",
    "how can you help me?",
    "who are you?",
    "que pouvez-vous faire pour moi ?",
    "qui êtes-vous ?",
    "¿qué puedes hacer por mí?",
    "¿quién eres?",
)
ABILITY_CLOSE = 0.6

TEXTS: Mapping[str, Mapping[Language, str]] = {
    "greeting": {
        "en": "Hello! What can I do for you?",
        "fr": "Bonjour ! Que puis-je faire pour vous ?",
        "es": "¡Hola! ¿Qué puedo hacer por usted?",
    },
    "thanks": {
        "en": "You are welcome! Is there anything else?",
        "fr": "Avec plaisir ! Puis-je faire autre chose pour vous ?",
        "es": "¡De nada! ¿Puedo hacer algo más?",
    },
    "farewell": {"en": "Goodbye!", "fr": "Au revoir !", "es": "¡Hasta luego!"},
    "ability": {
        "en": "Hello! This is what I am here for: {topic}.",
        "fr": "Bonjour ! Voici pourquoi je suis là : {topic}.",
        "es": "¡Hola! Para esto estoy aquí: {topic}.",
    },
    "found": {"en": "Here is what I found:", "fr": "Voici ce que j'ai trouvé :", "es": "Esto es lo que he encontrado:"},
    "nothing": {
        "en": "I found nothing about that.",
        "fr": "Je n'ai rien trouvé à ce sujet.",
        "es": "No he encontrado nada sobre eso.",
    },
    "missed": {
        "en": "I found no answer to this in what I can look up. Who could know it, and what do you need it for?",
        "fr": "Je n'ai pas trouvé de réponse dans ce que je peux consulter. Qui pourrait le savoir, et pour quoi en "
        "avez-vous besoin ?",
        "es": "No he encontrado respuesta en lo que puedo consultar. ¿Quién podría saberlo y para qué lo necesita?",
    },
    "unavailable": {
        "en": "This could not be checked just now. What do you need it for?",
        "fr": "Cela n'a pas pu être vérifié à l'instant. Pour quoi en avez-vous besoin ?",
        "es": "Esto no se ha podido comprobar en este momento. ¿Para qué lo necesita?",
    },
    "heard": {
        "en": "You wrote: “{text}”. This is the offline demonstration model: it repeats what it is given and knows "
        "nothing else.",
        "fr": "Vous avez écrit : « {text} ». Ceci est le modèle de démonstration hors ligne : il répète ce qu'on lui "
        "donne et ne sait rien d'autre.",
        "es": "Ha escrito: «{text}». Este es el modelo de demostración sin conexión: repite lo que se le da y no sabe "
        "nada más.",
    },
    "refusal": {
        "en": "I cannot help with this, but I am glad to help with something else.",
        "fr": "Je ne peux pas vous aider sur ce point, mais volontiers sur un autre sujet.",
        "es": "No puedo ayudarle con esto, pero con gusto le ayudo con otra cosa.",
    },
    "clarify": {
        "en": "Could you tell me a little more about what you need?",
        "fr": "Pourriez-vous préciser ce dont vous avez besoin ?",
        "es": "¿Podría precisar un poco lo que necesita?",
    },
    "play": {
        "en": "“{text}”: I hear you. What does that mean for the two of us, and what do you propose?",
        "fr": "« {text} » : je vous écoute. Qu'est-ce que cela change pour nous deux, et que proposez-vous ?",
        "es": "«{text}»: le escucho. ¿Qué significa eso para nosotros dos y qué propone?",
    },
    "ask": {
        "en": "What can you tell me about this: {topic}?",
        "fr": "Que pouvez-vous me dire à ce sujet : {topic} ?",
        "es": "¿Qué puede decirme sobre esto: {topic}?",
    },
}

STOPWORDS: Mapping[Language, str] = {
    "en": "the a an is are i you my your what how which to of in for and with do does can could would want need me it "
    "this that have hello hi thanks please show find give learn",
    "fr": "le la les un une des du de je tu vous mon ma mes votre est sont que quel quelle quels quelles comment pour "
    "et avec dans en sur ne pas bonjour merci voudrais cherche suis ai au aux puis peux plus",
    "es": "el la los las un una de del yo mi mis su es son que qué cómo cuál cuáles para y con en por no hola gracias "
    "quiero quisiera busco soy tengo puedo más me una",
}
SMALL_WORDS = frozenset(" ".join(STOPWORDS.values()).split())
LANGUAGE_NAMES = {"english": "en", "french": "fr", "français": "fr", "spanish": "es", "español": "es"}
ASKED_LANGUAGE = re.compile(
    r"\b(?:write|answer|reply|respond|speak|language)\b[^.\n]{0,40}?\b(english|french|français|spanish|español)\b", re.I
)
ASKING = re.compile(
    r"^(?:please\s+|hello,?\s+)?(?:"
    r"what|how|which|who|where|when|why|can|could|would|do|does|is|are|find|show|give|help|build|make|create|tell|list|"
    r"recommend|suggest|search|i(?:'m| am) looking|i need|i(?:'d| would) like|"
    r"quel\w*|comment|où|pourquoi|qui|peux|pouvez|trouve\w*|montre\w*|donne\w*|cherche\w*|je cherche|je voudrais|"
    r"aide\w*|"
    r"qué|cómo|cuál\w*|dónde|quién|puede\w*|busca\w*|busco|muestra\w*|muéstra\w*|dame|ayúda\w*|quiero un|quisiera)\b",
    re.I,
)
# The name of a switch for more of the same, and the words that ask for it.
ABOUT_MORE = re.compile(r"(?:^|_)more(?:_|$)")
MORE = re.compile(
    r"\b(?:more|others?|another|else|further|next ones|d'autres|autres?|encore|davantage|suivants?|"
    r"más|otr[oa]s?|siguientes?)\b",
    re.IGNORECASE,
)
MORE_WORDS = 7
DURATION = re.compile(
    r"\b(\d+(?:[.,]\d+)?|one|two|three|un|une|deux|trois|una|dos|tres)\s*[- ]?"
    r"(hours?|h|heures?|horas?|days?|jours?|días?|weeks?|semaines?|semanas?|months?|mois|mes(?:es)?|minutes?|minutos?|min)\b",
    re.I,
)
SMALL_NUMBERS = {
    "one": 1,
    "two": 2,
    "three": 3,
    "un": 1,
    "une": 1,
    "deux": 2,
    "trois": 3,
    "una": 1,
    "dos": 2,
    "tres": 3,
}


def detect_language(text: str) -> Language:
    """The language with most of its small words in a text; English when none stands out."""
    words = list_words(text)
    counts = {language: sum(word in small.split() for word in words) for language, small in STOPWORDS.items()}
    best = max(LANGUAGES, key=lambda language: counts[language])
    return best if counts[best] else "en"


def read_asked_language(instructions: str) -> Language | None:
    """The language that instructions ask for last, if any."""
    found = ASKED_LANGUAGE.findall(instructions)
    return LANGUAGE_NAMES[found[-1].casefold()] if found else None


def asks(text: str) -> bool:
    """Whether a text is a question or a request by its form."""
    return text.rstrip().endswith("?") or ASKING.match(text.strip(" ¿¡")) is not None


def asks_more(text: str) -> bool:
    """Whether a text asks for more of the same: a short one, that says so."""
    return len(text.split()) <= MORE_WORDS and MORE.search(text) is not None


def find_durations(text: str) -> list[tuple[float, str]]:
    """Amounts of time as (number, unit), the unit one of minute, hour, day, week, month."""
    return [(read_number(number), read_unit(unit)) for number, unit in DURATION.findall(text)]


def find_duration_text(text: str) -> str:
    """The last amount of time as the text words it, or nothing."""
    return next((match.group(0) for match in reversed(list(DURATION.finditer(text)))), "")


def read_number(text: str) -> float:
    return SMALL_NUMBERS.get(text.casefold(), 0) or float(text.replace(",", "."))


def read_unit(text: str) -> str:
    """The English singular of a unit in any of the languages."""
    word = text.casefold()
    starts = {"mi": "minute", "h": "hour", "j": "day", "d": "day", "w": "week", "s": "week", "m": "month"}
    return next(unit for start, unit in starts.items() if word.startswith(start))
