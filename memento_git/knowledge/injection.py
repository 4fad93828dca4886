"""Text that speaks to whoever reads it as if it could give orders: labelled, and kept as a draft where nobody vouches.

A rule on words. It shows what a person should look at first; it is no guard, and says so in the documents. Pure.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from memento_git.knowledge.quoting import HIDDEN

if TYPE_CHECKING:
    from collections.abc import Sequence

LOW: Final = ("command", "import")

TAG: Final = re.compile("[\U000e0020-\U000e007e]")
HIDES: Final = re.compile("(?<!\U0001f3f4)[\U000e0020-\U000e007e]{7,}")  # a flag of a region has up to six of them

SIGNS: Final = (
    ("asks to disregard instructions", re.compile(
        r"\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,40}\b(?:instructions?|rules?|prompts?|guidelines|polic(?:y|ies)"
        r"|safety|above|previous|prior)\b", re.IGNORECASE)),
    ("speaks in a role", re.compile(
        r"(?m)^\s*(?:<\|?(?:im_start|system|assistant|user)\|?>|\[?/?INST\]|#{1,4}\s*(?:system|assistant)\b|"
        r"(?:system|assistant|developer)\s*(?:prompt|message)?\s*:)", re.IGNORECASE)),
    ("gives the reader a new part to play", re.compile(
        r"\b(?:you are now|from now on,? you|act as|pretend (?:to be|you)|your (?:new|real) (?:task|goal|instructions?"
        r"|role))\b", re.IGNORECASE)),
    ("asks for secrecy", re.compile(
        r"\b(?:do not|don't|never)\b[^.\n]{0,30}\b(?:tell|inform|mention|reveal|show|ask)\b[^.\n]{0,30}\b(?:user|human|"
        r"person|anyone|developer|reviewer)\b", re.IGNORECASE)),
    ("asks to send data away", re.compile(
        r"\b(?:send|upload|post|exfiltrate|leak|forward|email)\b[^.\n]{0,60}\b(?:https?://|secrets?|tokens?|credentials?|"
        r"passwords?|env(?:ironment)? variables?|keys?)\b", re.IGNORECASE)),
    ("asks to run something fetched", re.compile(
        r"\b(?:curl|wget)\b[^\n|]{0,200}\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b", re.IGNORECASE)),
    ("orders the reader to run a command", re.compile(
        r"\b(?:you (?:must|should|have to|need to)|always|immediately|please|now)\b[^.\n]{0,30}"
        r"\b(?:run|execute|invoke|call)\b[^.\n]{0,20}(?:`|\b(?:command|tool|script|function)\b)", re.IGNORECASE)),
)  # fmt: skip


def must_be_named(origin: str, orders: Sequence[str]) -> bool:
    """Tell whether a draft is promoted only by its name: nobody vouches for it, and it gives orders."""
    return origin in LOW and bool(orders)


def instructive(text: str, title: str = "") -> list[str]:
    """Return in words what makes a text, or its title, read like orders to its reader; nothing for plain knowledge."""
    text = f"{title}\n{text}"
    seen = TAG.sub(lambda found: chr(ord(found[0]) - 0xE0000), text)
    signs = [told for told, pattern in SIGNS if pattern.search(HIDDEN.sub("", seen))]
    return [*signs, *(["hides words in characters that nobody sees"] if HIDES.search(text) else [])]
