"""Fixed texts of the look-up of a person, by language."""

from collections.abc import Mapping
from typing import Final

Texts = Mapping[str, str]

WHICH_PERSON: Final[Texts] = {
    "en": "Which person do you mean?",
    "fr": "De quelle personne s'agit-il ?",
    "es": "¿A qué persona se refiere?",
}
WHICH_OF_MANY: Final[Texts] = {
    "en": "Many people have a name like this. Which one do you mean? If none of these, skip and give the full name.",
    "fr": "Beaucoup de personnes ont un nom de ce genre. Laquelle est-ce ? Si elle n'y est pas, passez la question et "
    "donnez le nom complet.",
    "es": "Muchas personas tienen un nombre parecido. ¿A cuál se refiere? Si no está aquí, omita la pregunta e "
    "indique el nombre completo.",
}
IS_IT_THIS: Final[Texts] = {
    "en": "Nobody has exactly this name. Do you mean this person?",
    "fr": "Personne ne porte exactement ce nom. S'agit-il de cette personne ?",
    "es": "Nadie tiene exactamente este nombre. ¿Se refiere a esta persona?",
}
REPLY_WITH_ID: Final[Texts] = {
    "en": "Reply with the exact id of the person.",
    "fr": "Répondez avec l'identifiant exact de la personne.",
    "es": "Responda con el identificador exacto de la persona.",
}
NOBODY_CHOSEN: Final[Texts] = {
    "en": "Nobody was chosen, so I leave this request here. You can ask again with the full name.",
    "fr": "Personne n'a été choisi : j'en reste là pour cette demande. Vous pouvez la refaire avec le nom complet.",
    "es": "No se ha elegido a nadie, así que dejo aquí esta petición. Puede repetirla con el nombre completo.",
}
