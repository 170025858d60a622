"""A picture inside a request: base64 that really is a picture."""

import base64
import binascii

from oria_runtime.http import limits

SIGNATURES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}


def check_image(text: str) -> str:
    """The base64 of a picture as a data URL whose type is the one its first bytes say. Raises ValueError."""
    encoded = text.partition(",")[2] if text.startswith("data:") else text
    try:
        content = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError("is not base64") from error
    if len(content) > limits.IMAGE_BYTES:
        raise ValueError(f"is larger than {limits.IMAGE_BYTES} bytes")
    return f"data:{find_media_type(content)};base64,{encoded}"


def find_media_type(content: bytes) -> str:
    """The media type by signature. Raises ValueError for what is no PNG, JPEG, GIF or WebP."""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    for signature, media_type in SIGNATURES.items():
        if content.startswith(signature):
            return media_type
    raise ValueError("is not a PNG, JPEG, GIF or WebP picture")
