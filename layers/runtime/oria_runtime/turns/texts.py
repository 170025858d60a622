"""What a person reads when a turn ends without an answer: safe, short, in their language, without technical detail."""

from collections.abc import Mapping

FALLBACK_LOCALE = "en"

FAILURE_TEXTS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "unvetted": "I could not check this message just now, so I did nothing with it. Please try again.",
        "failed": "Something went wrong while I was working on this. Please try again.",
        "deadline": "This took longer than it may. Please try again, perhaps with a smaller request.",
        "expired": "I closed this request because the questions were not answered in time.",
        "cancelled": "This request was cancelled.",
    },
    "fr": {
        "unvetted": "Je n'ai pas pu vérifier ce message à l'instant et n'en ai rien fait. Veuillez réessayer.",
        "failed": "Un problème est survenu pendant le traitement de cette demande. Veuillez réessayer.",
        "deadline": "Cette demande a pris trop de temps. Réessayez, peut-être avec une demande plus courte.",
        "expired": "J'ai clos cette demande, car les questions sont restées sans réponse trop longtemps.",
        "cancelled": "Cette demande a été annulée.",
    },
    "es": {
        "unvetted": "No he podido comprobar este mensaje ahora y no he hecho nada con él. Inténtelo de nuevo.",
        "failed": "Se ha producido un problema al tratar esta solicitud. Inténtelo de nuevo.",
        "deadline": "Esta solicitud ha tardado demasiado. Inténtelo de nuevo, quizá con una petición más breve.",
        "expired": "He cerrado esta solicitud porque las preguntas no se respondieron a tiempo.",
        "cancelled": "Esta solicitud se ha cancelado.",
    },
}


def failure_text(locale: str, name: str) -> str:
    """The text of that name in the locale's language, English when we have no other."""
    language = locale.replace("_", "-").partition("-")[0].lower()
    return FAILURE_TEXTS.get(language, FAILURE_TEXTS[FALLBACK_LOCALE])[name]
