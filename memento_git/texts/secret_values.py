"""Private keys as whole blocks, and values that are assigned to names such as `password`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memento_git.texts.secret_shapes import LONG_WORD, TEMPLATE, Span

PRIVATE_KEY: Final = "Private Key"
KEYWORD: Final = "Secret Keyword"
OF_VALUES: Final = (PRIVATE_KEY, KEYWORD)
_KEY_TITLE: Final = r"(?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?(?: ?-{2,5})?"
_KEY_BEGIN: Final = rf"(?:-{{2,5}} ?)?BEGIN {_KEY_TITLE}|PuTTY-User-Key-File-\d:"
_KEY_END: Final = rf"END {_KEY_TITLE}|Private-(?:MAC|Hash): ?[0-9a-f]+"
_KEY_BODY: Final = (
    r"""\A(?:\s|\\[nrt]|["'+,>|])*(?:[A-Za-z-]+:[ ][^\n\\]*(?:\n|\\[nr])(?:\s|\\[nrt])*)*"""
    r"""[A-Za-z0-9+/]{10,}={0,2}[ \t]*(?:[\\"'\r\n-]|\Z)|\A.{1,40}\n?Encryption:|[A-Za-z0-9+/]{40}"""
)
_KEY_LINE: Final = (
    r"[^\n]*[A-Za-z0-9+/]{40}[^\n]*\n?|[ \t]*[A-Za-z0-9+/]*={0,2}[ \t\r]*(?:\n|\Z)"
    r"|[A-Za-z-]+: [^\n]*\n?"
)
_KEY_LENGTH: Final = 65_536

_NAMES: Final = r"passwo?r?d|passphrase|pass|pwd|token|secret|contrase[nñ]a|key"
_FIRST_WORDS: Final = {
    "key": r"(?:api|auth|service|account|db|database|priv|private|client|access|encryption|signing|master"
    r"|deploy|nessus|recaptcha_\w{0,20})[_.-]?\Z",
    "pass": r"(?:_|db|database|key|user)\Z",
}
_ASSIGNED: Final = r"""(?x)
    (?P<suffix> \w{0,40} (?:-(?:access-)?key)? )
    (?: \[\d{0,4}\] )? (?: \\{0,3}["'`]\]? )?
    (?: \*{0,3} [ \t]* (?P<op> => | := | ={1,3} | !==? | ::? ) (?: \*{1,3} (?=[ \t]) )? [ \t]* | [ \t]+ )
    (?: [A-Za-z]{0,2}@? (?P<quote> \\{0,3}["'`] )
        (?P<quoted> (?: (?!(?P=quote)) (?: \\\S | \S ) ){6,1024} ) (?: (?P=quote) | $ | (?=[\r\n]) )
      | (?P<bare> (?: (?![&;,][\w.-]{1,40}[=:]) [^\s"'`<>] ){6,128} ) )
"""
_MORE_BARE: Final = r"""(?:(?![&;,][\w.-]{1,40}[=:])[^\s"'`<>])*"""
_LONGEST_BARE: Final = 128
_OTHER_FIRST: Final = "cancel cancellation continuation max min next no num page public stop"
_OTHER_LAST: Final = (
    "at budget checksum class count digest dir endpoint expired expires expiration expiry field file filename"
    " fingerprint folder format hash hint id ids index label len length limit lookup manager max md5 min mode"
    " name names path pattern placeholder policy prefix prompt provider regex required reset rule sha sha1"
    " sha256 status store strength total ttl type uri url usage used valid validator version"
)
_WORDS: Final = (
    "accepted anonymous available confirmation confirmed database disabled enabled encrypted example expected"
    " expired external filtered forbidden generated incorrect internal kubernetes mandatory mismatch notfound"
    " optional password protected provided refreshed rejected removed required revoked rotated unauthorized"
    " unchanged undefined unspecified username"
)
_HARMLESS: Final = (
    r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"  # UUID
    r"|[a-z]{2,12}_[0-9a-z]{12}"  # an id of the ledger
    r"|\d{4}-\d\d-\d\d.*|#[0-9A-Fa-f]{3,8}"
    r"|[A-Za-z][A-Za-z0-9+.-]*://.*|(?:~|\.{1,2})?/[a-z.][\w.-]*(?:/.*)?|/Users/.*|[A-Za-z]:[\\/].*"
    r"|[\w./-]+\.(?:cfg|conf|env|ini|json|key|md|pem|py|sh|toml|txt|ya?ml)(?::\d+)*"
    r"|[A-Za-z]{2,}\d{0,2}(?:_(?:[A-Za-z]+\d{0,2}|\d{1,4}))+"  # snake_case
    r"|[A-Za-z]+(?:[.-][A-Za-z]+){1,2}|_{0,2}(?:[A-Z]{1,5}|[a-z]+)?(?:[A-Z][a-z]+){1,3}"
)
_NOT_BARE: Final = (
    r"[A-Za-z_][\w.]*[(\[].*|[A-Za-z_]+\d?(?:\.[A-Za-z_]+\d?)+|[\d.,:_/%-]+[A-Za-z]{0,8}(?:/[a-z]+)?"
    r"|(?:aes|argon|auth|base|bcrypt|ed|es|h|hs|http|md|oauth|pbkdf|ps|py|python|rs|sha|utf|v|x)-?\d[\w.-]{0,8}"
    r"|(?:[A-Za-z]{2,}\d{0,2}|\d{1,6}[A-Za-z]{0,3})(?:[_.:/-]+(?:[A-Za-z]{2,}\d{0,2}|\d{1,6}[A-Za-z]{0,3}))+"
)
_NOT_AFTER_COLON: Final = r".{0,11}|[A-Za-z]+\d{1,2}|[0-9a-f]{40}|[0-9a-f]{64}"


def key_blocks(text: str, low: str) -> Iterator[Span]:
    """Yield private keys from their first line to their last, or as far as a cut-off one goes."""
    if "private key" not in low and "putty-user-key-file" not in low:
        return
    begins = [match.span() for match in re.finditer(_KEY_BEGIN, text)]
    ends = [match.span() for match in re.finditer(_KEY_END, text)][::-1]
    for (start, body), (most, _) in zip(begins, [*begins[1:], (len(text), 0)], strict=False):
        while ends and ends[-1][0] < body:
            ends.pop()
        whole = ends and ends[-1][1] <= min(most, body + _KEY_LENGTH)
        stop = ends[-1][1] if whole else _cut_off(text, body, most)
        if re.search(_KEY_BODY, text[body:stop]):
            yield Span(start, stop, 0, PRIVATE_KEY)


def rest_of_key(text: str) -> Iterator[Span]:
    """Yield the end of a private key that began before the text does."""
    end = re.search(_KEY_END, text)
    if end is not None and not re.search(_KEY_BEGIN, text[: end.start()]):
        yield Span(0, end.end(), 0, PRIVATE_KEY)


def _cut_off(text: str, at: int, most: int) -> int:
    """Return where the lines end that can belong to the key whose header ends here."""
    first, line = text.find("\n", at, most), re.compile(_KEY_LINE)
    stop = most if first < 0 else first + 1
    while (match := line.match(text, stop, most)) and match.end() > stop:
        stop = match.end()
    return stop


def assigned(text: str, low: str) -> Iterator[Span]:
    """Yield the values that are assigned to names of secrets."""
    names, assigned, at = re.compile(_NAMES), re.compile(_ASSIGNED), 0
    while name := names.search(low, at):
        at = name.end()
        match = assigned.match(text, at)
        if match is None or not (match["op"] or _is_option(text, name)) or not _names_secret(text, name, match):
            continue
        start, end = match.span("bare" if match["quoted"] is None else "quoted")
        value = text[start:end] if match["quoted"] else text[start:end].rstrip("),;.]}:!?")
        if _written_out(value) and (_fits if match["quoted"] else _fits_bare)(text, name, match, value):
            more = re.compile(_MORE_BARE).match(text, end) if len(value) == _LONGEST_BARE else None
            at = more.end() if more else start + len(value)
            yield Span(start, at, 3, KEYWORD)


def _is_option(text: str, name: re.Match[str]) -> bool:
    """Tell whether a name is that of a command's option, so that a space comes before the value."""
    return re.search(r"(?:^|\s)--[\w-]*\Z", text[max(0, name.start() - 32) : name.start()]) is not None


def _names_secret(text: str, name: re.Match[str], match: re.Match[str]) -> bool:
    """Tell whether the whole name is that of a secret, as `token_count` and `tokenizer` are not."""
    before = text[max(0, name.start() - 32) : name.start()].lower()
    word, suffix = name[0], match["suffix"]
    if word in _FIRST_WORDS and not re.search(_FIRST_WORDS[word], before):
        return False
    if suffix and (word == "pass" or (word == "token" and suffix in "sS")):
        return False
    upper = text[name.start() : name.end()].isupper()
    joined = r"[sS]?\d{0,3}|_\w*" if upper else r"s?\d{0,3}|_\w*|[A-Z]\w*"
    if not re.fullmatch(rf"(?:{joined})(?:-\S*)?", suffix):
        return False
    words = {part.lower() for part in re.findall(r"[A-Z]?[a-z]+\d*|[A-Z]+\d*", suffix)}
    first = re.search(r"([a-z]+)[_.-]?\Z", before)
    return words.isdisjoint(_OTHER_LAST.split()) and (not first or first[1] not in _OTHER_FIRST.split())


def _written_out(value: str) -> bool:
    """Tell whether a value can be a secret, as ids, paths, placeholders and words of prose cannot."""
    return (
        re.search(r"[^\W\d_]", value) is not None
        and not re.search(TEMPLATE, value)
        and not re.fullmatch(_HARMLESS, value)
        and value.lower() not in _WORDS.split()
    )


def _fits(_text: str, _name: re.Match[str], match: re.Match[str], value: str) -> bool:
    """Tell whether a value in quotes is a secret."""
    return match["op"] is not None and (len(value) >= LONG_WORD or re.search(r"\d", value) is not None)


def _fits_bare(text: str, name: re.Match[str], match: re.Match[str], value: str) -> bool:
    """Tell whether a value without quotes is a secret, and not the name of another thing or prose."""
    before, op = text[max(0, name.start() - 64) : match.end("suffix")], match["op"]
    digit = re.search(r"\d", value) is not None
    if op not in {None, "=", ":", ":="} or re.fullmatch(_NOT_BARE, value):
        return False
    if op is None:
        return digit
    if op == "=" and re.search(r"(?:^|\W)[A-Z0-9_]+$", before) and text[match.end("op")] not in " \t":
        return digit or len(value) >= LONG_WORD
    colon = op == ":" and not name[0].startswith(("pass", "pwd"))
    return digit and not (colon and re.fullmatch(_NOT_AFTER_COLON, value))
