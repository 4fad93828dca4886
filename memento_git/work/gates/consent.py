"""Whether an answer is plainly a yes. Pure.

An answer is a yes only if all of it is one of a few words, with at most a *please* or *thank you* before or after it.
Whatever says more, asks, denies, quotes or depends on something is a no, and so is a word that only looks like one.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

WORDS: Final = {
    "English": (
        "yes", "y", "yep", "yeah", "ok", "okay", "approve", "approved", "i approve", "agreed", "i agree", "lgtm",
        "yes i approve", "yes approved", "accepted",
    ),
    "Korean": (
        "네", "예", "응", "승인", "승인함", "승인합니다", "승인했습니다", "승인해요",
        "동의", "동의합니다", "찬성합니다", "네 승인합니다", "예 승인합니다",
    ),
    "German": ("ja", "genehmigt", "einverstanden", "freigegeben", "zugestimmt", "ich stimme zu", "ich genehmige es"),
    "French": ("oui", "d'accord", "approuvé", "approuvée", "j'approuve", "je suis d'accord", "accepté"),
    "Spanish": ("sí", "apruebo", "lo apruebo", "aprobado", "aprobada", "de acuerdo", "estoy de acuerdo"),
    "Portuguese": ("sim", "aprovo", "aprovado", "aprovada", "concordo", "de acordo"),
    "Italian": ("sì", "approvo", "approvato", "approvata", "d'accordo", "sono d'accordo"),
    "Dutch": ("akkoord", "goedgekeurd", "ik ga akkoord", "ik keur het goed"),
    "Polish": ("tak", "zatwierdzam", "zatwierdzone", "zgoda", "zgadzam się"),
    "Russian": ("да", "одобряю", "одобрено", "согласен", "согласна", "утверждаю", "утверждено"),
    "Turkish": ("evet", "onaylıyorum", "onaylandı", "kabul ediyorum"),  # noqa: RUF001 (its own letters)
    "Japanese": ("はい", "承認", "承認します", "承認しました", "同意します", "賛成です"),
    "Chinese": ("是", "是的", "同意", "我同意", "批准", "通过", "通過", "好的"),
}  # fmt: skip
POLITE: Final = (
    "please", "thanks", "thank you", "many thanks", "감사합니다", "고맙습니다", "부탁합니다", "부탁드립니다",
    "bitte", "danke",
    "s'il vous plaît", "s'il te plaît", "merci", "por favor", "gracias", "obrigado", "obrigada", "per favore", "grazie",
    "alstublieft", "bedankt", "proszę", "dziękuję", "пожалуйста", "спасибо", "lütfen", "teşekkürler", "お願いします",
    "ありがとうございます", "请", "請", "谢谢", "謝謝",
)  # fmt: skip
YES: Final = frozenset(word for words in WORDS.values() for word in words)
LONGEST: Final = 60
END: Final = re.compile(r"(?:[.。]|[!！]{1,3})$")  # noqa: RUF001 (as they are typed in East Asia)
BETWEEN: Final = re.compile(r"[,，、]?\s+|[,，、]")  # noqa: RUF001 (the same)
WORDS_OF_COURTESY: Final = "|".join(map(re.escape, POLITE))
COURTESY: Final = re.compile(
    rf"^(?:{WORDS_OF_COURTESY})(?:{BETWEEN.pattern})|(?:{BETWEEN.pattern})(?:{WORDS_OF_COURTESY})$"
)
WIDE: Final = "，、！\u3000"  # noqa: RUF001 (the same)


def is_yes(answer: str) -> bool:
    """Tell whether an answer is plainly a yes."""
    if len(answer) > LONGEST or _disguised(answer):
        return False
    text = " ".join(unicodedata.normalize("NFC", answer).replace("\u2019", "'").lower().split())
    bare = COURTESY.sub("", END.sub("", text).rstrip())
    return (BETWEEN.sub(" ", bare) if bare.startswith(("yes", "네", "예")) else bare) in YES


def _disguised(answer: str) -> bool:
    """Tell whether a character is not what normalisation makes of it: a look-alike of a plain letter, or of a blank."""
    normal = unicodedata.normalize("NFC", answer)
    return any(not letter.isascii() and unicodedata.normalize("NFC", letter).isascii() for letter in answer) or any(
        unicodedata.normalize("NFKC", letter) != letter for letter in END.sub("", normal.strip()) if letter not in WIDE
    )
