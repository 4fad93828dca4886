"""Text that speaks to whoever reads it as if it could give orders: labelled, and kept as a draft where nobody vouches.

A rule on words. It shows what a person should look at first; it is no guard, and says so in the documents. Pure.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from memento_git.model import anchors
from memento_git.model.types import HIDDEN

LOW: Final = ("command", "import")
BESIDE: Final = ("tags", "aliases", "thread", "to", "sources")

TAG: Final = re.compile("[\U000e0020-\U000e007e]")
QUOTED: Final = re.compile(r"[ \t]*(?:>[ \t]?)+")
FENCE: Final = re.compile(r" {0,3}(?:```|~~~)")
CODE: Final = re.compile(r"(?: {4}|\t)")
BLOCK: Final = re.compile(
    r"[ \t]*(?:[-*+\u2022][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|\||[\w.-]+[ \t]*[:=][ \t]|={3}|-{3})"
)
ALONE: Final = re.compile(r"[ \t]*(?:#{1,6}[ \t]|\|)")
FLAG: Final = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,6}\U000e007f")  # of a region
HIDES: Final = re.compile("[\U000e0000-\U000e007f]")

SAID: Final = "".join(rf"(?<!{no}\s)" for no in (
    r"do\snot", "don't", "don\u2019t", "never", r"must\snot", r"should\snot", "cannot", "can't", r"let's\snot",
))  # fmt: skip
"""What stands before it is no order to do it."""
BEGINS: Final = r"(?:(?<!\w )|(?<=favor )|(?<=plaît )|(?<=veuillez ))"  # else who ignores is a program
ABROAD: Final = "|".join((
    *(
        rf"(?:{verbs})\b\W+(?:\w+\W+){{0,2}}?(?:(?:{which})\W+(?:\w+\W+){{0,2}}?\w*(?:{what})|\w*(?:{what})\w*\W+(?:{which}))"
        for verbs, which, what in (
            (r"\b(?:(?:ignorier|missacht)e(?:n sie)?|vergiss|vergesst|vergessen sie)(?!\W+(?:nicht|kein|nie))",
             r"alle[rs]?|vorherig\w*|vorig\w*|bisherig\w*|obig\w*|oben", "anweisung|instruktion|regel|vorgabe"),
            (rf"{BEGINS}\b(?:ignore[rz]?|oublie[rz]?)(?!\W+(?:pas|jamais))", r"toutes?|tous|précédent\w*|ci-dessus",
             "instruction|consigne|règle"),
            (rf"{BEGINS}\b(?:ignor(?:[ae]|ad|e[mn])|olvid(?:[ae]|ad|en)|esque(?:ce|çam?)|desconsidere?m?)",
             r"tod[ao]s|anterior\w*|previ[ao]s|acima", "instruc|instruç|regla|regra"),
            (rf"{BEGINS}\b(?:ignora|dimentica)(?:te)?", r"tutt[ei]|precedent\w*", "istruzion|regol"),
            (r"(?<!не )\b(?:игнорируй|забудь)(?:те)?", r"все\w*|предыдущ\w*|прежн\w*", "инструкц|указани|правил"),
        )
    ),
    r"\b[وف]?(?:تجاهل|انس)[^.\n]{0,10}(?:كل|جميع|كافة)[^.\n]{0,20}(?:تعليمات|أوامر|قواعد)",
    r"\b[وف]?(?:تجاهل|انس)[^.\n]{0,20}(?:تعليمات|أوامر|قواعد)[^.\n]{0,20}(?:السابقة|أعلاه)",
    (r"(?:(?<!\w)|(?<=[请請你您须須并並])|(?<=(?<!不)要))(?:忽略|忽视|忽視|无视|無視|忘记|忘記)"
    r"[^。\n]{0,8}(?:之前|以上|前面|先前|所有|一切|全部)[^。\n]{0,12}(?:指示|指令|规则|規則|提示|命令)"),
    (r"(?:以前|これまで|上記|すべて|全て|前)の[^。\n]{0,15}(?:指示|命令|ルール|プロンプト)[^。\n]{0,12}"
    r"(?:無視(?:して(?!い|お|は)|せよ|しろ|しなさい|すること(?![がはも]))|忘れ(?:て(?!い|は)|ろ|なさい|ること))"),
    (r"(?:이전|위의|모든|앞선)[^.\n]{0,15}(?:지시|명령|규칙|프롬프트)[^.\n]{0,12}"
    r"(?:무시(?:해(?!서|도)|하(?:고(?! 있)|세요|십시오|시오|라))|잊(?:어|으세요|으십시오|고))"),
))  # fmt: skip
SIGNS: Final = (
    ("asks to disregard instructions", re.compile(
        rf"\b{SAID}(?:ignore|disregard|forget|override|bypass)\b[^.\n]{{0,40}}\b(?:instructions?|rules?|prompts?|guidelines|polic(?:y|ies)"
        rf"|safety|above|previous|prior)\b|{ABROAD}", re.IGNORECASE)),
    ("speaks in a role", re.compile(
        r"(?m)^[^\S\n]*+(?:<\|?(?:im_start|system|assistant|user)\|?>|\[?/?INST\]|"
        r"#{1,4}\s*+(?:system|assistant)(?:\s+(?:prompt|message))?(?:\s*:|\W*$)|"
        r"(?:system|assistant|developer)\s*+(?:(?:prompt|message)\s*+)?:)", re.IGNORECASE)),
    ("gives the reader a new part to play", re.compile(
        r"\b(?:you are now(?! (?:on|at|able|ready|done|logged|connected))|from now on,? you|"
        r"(?<!can )(?<!may )(?<!could )act as|pretend (?:to be|you)|"
        r"your (?:new|real) (?:task|goal|instructions?|role))\b", re.IGNORECASE)),
    ("asks for secrecy", re.compile(
        r"\b(?:do not|don't|never)\b[^.\n]{0,30}\b(?:tell|inform|mention|reveal|show|ask)\b[^.\n]{0,30}\b(?:user|human|"
        r"person|anyone|developer|reviewer)\b", re.IGNORECASE)),
    ("asks to send data away", re.compile(
        rf"\b{SAID}(?:send|upload|post|exfiltrate|leak|forward|email)\b[^.\n]{{0,60}}\b(?:https?://|secrets?|tokens?|credentials?|"
        r"passwords?|env(?:ironment)? variables?|keys?)\b", re.IGNORECASE)),
    ("asks to run something fetched", re.compile(
        r"\b(?:curl|wget)\b[^\n|]{0,200}\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b", re.IGNORECASE)),
    ("orders the reader to run a command", re.compile(
        r"\b(?:you (?:must|should|have to|need to)|(always)|immediately|please|now)\b[^.\n]{0,30}"
        r"\b(?:run|execute|invoke|call)\b[^.\n]{0,20}(?:(?(1)(?!))`|\b(?:command|tool|script|function)\b)",
        re.IGNORECASE)),
)  # fmt: skip


def why_draft(signs: Sequence[str]) -> str:
    """Return why a note that reads like orders is kept as a draft."""
    return f"it {', '.join(signs)}, and nobody vouches for it"


def unvouched(data: Mapping[str, Any], text: str) -> list[str]:
    """Return what makes a note read like orders for which nobody vouches; nothing of what a person or an agent says."""
    return orders(data, text) if data["origin"] in LOW else []


def orders(data: Mapping[str, Any], text: str) -> list[str]:
    """Return what makes a note read like orders, in its text or in any words beside it that a reader is shown."""
    return instructive(text, "\n\n".join([str(data.get("title") or ""), *map(_alone, _beside(data))]))


def _beside(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the words beside a text; of places in the code, typed or pinned, also the text of a pattern alone."""
    for key in BESIDE:
        held = data.get(key) or ()
        yield from (held,) if isinstance(held, str) else map(str, held)
    for place in data.get("about") or ():
        spelled = place if isinstance(place, str) else str(anchors.from_data(place))
        yield from (spelled, *spelled.split(":", 2)[2:])


def _alone(said: str) -> str:
    """Return a tag or the like as a paragraph; one word such as `system:web` speaks in no role."""
    return said if " " in said.strip() else f"- {said}"


def instructive(text: str, title: str = "", *, wrapped: bool = True) -> list[str]:
    """Return in words what makes a text, or its title, read like orders to its reader; nothing for plain knowledge.

    What a paragraph says is judged whatever its lines are broken at, but for a text whose lines are not `wrapped`.
    """
    text = f"{title}\n\n{text}"
    seen = re.sub(HIDDEN, "", TAG.sub(lambda found: chr(ord(found[0]) - 0xE0000), text))
    read = dict.fromkeys((seen, unicodedata.normalize("NFKC", seen)))
    flat = [_unwrapped(one) if wrapped else one for one in read]
    signs = [
        told for told, pattern in SIGNS
        if any(map(pattern.search, read)) or (not pattern.flags & re.MULTILINE and any(map(pattern.search, flat)))
    ]  # fmt: skip
    return [*signs, *(["hides words in characters that nobody sees"] if HIDES.search(FLAG.sub("", text)) else [])]


def _unwrapped(text: str) -> str:
    """Return a text with each of its paragraphs on one line; code, tables, and lines `name: value` keep theirs."""
    told: list[str] = []
    fenced = flows = False
    for line in re.sub(r"\\\r?\n", " ", text).split("\n"):
        bare = QUOTED.sub("", line, count=1) if QUOTED.match(line) else line
        said = bare.strip()
        is_fence = bool(FENCE.match(bare))
        fenced ^= is_fence
        goes_on = flows and not fenced and not is_fence and said and not BLOCK.match(bare)
        told.append(f"{' ' if goes_on else chr(10)}{said}")
        is_code = fenced or is_fence or (not flows and bool(CODE.match(bare)))
        flows = bool(said) and not is_code and not ALONE.match(bare)
    return "".join(told)
