"""Socket.IO packets as text, made comparable."""

import json
import re
import zlib

from backend.javascript import LONE_SURROGATE
from backend.services import text_of_bytes

from .masking import masked

PACKET = re.compile(r"(\d+(?:/[^,\[{]*,)?\d*)(.*)", re.DOTALL)
CLIPPED = " …CLIPPED… "


def comparable(text):
    """(type and ack id, masked payload) of a packet."""
    prefix, payload = PACKET.match(text).groups()
    try:
        return prefix, masked(json.loads(payload)) if payload else None
    except ValueError:
        return prefix, payload


def same(recorded, received):
    if CLIPPED in recorded:
        # JavaScript clips between UTF-16 units, so the inner edges may be half a character.
        start, end = (LONE_SURROGATE.sub("", part) for part in recorded.split(CLIPPED))
        return received.startswith(start) and received.endswith(end)
    return comparable(recorded) == comparable(received)


def whole(entry):
    """The text a client sent, rebuilt where the recording is clipped."""
    text = entry.get("text") if "text" in entry else entry.get("body")
    if text is None or CLIPPED not in text:
        return text
    if '"text":"' not in text:
        return text[0] + text[1] * (entry["bodyBytes"] - 1)
    start, end = text[: text.index('"text":"') + 8], text[text.rindex('"}') :]
    size = (entry.get("bytes") or entry["bodyBytes"]) - len(start.encode()) - len(end.encode())
    filling = text[len(start) : len(start) + 2]
    return start + (text_of_bytes(size) if filling == "aé" else filling[0] * size) + end


class Inflater:
    """Frames of a connection with permessage-deflate, which share one window."""

    def __init__(self):
        self.stream = zlib.decompressobj(-zlib.MAX_WBITS)

    def text(self, data):
        return self.stream.decompress(data + b"\x00\x00\xff\xff").decode()
