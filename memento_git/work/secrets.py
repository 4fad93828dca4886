"""Find secrets in text that is about to be kept for good.

Three scanners look at a text, and none of them ever uses the network:

* tokens of a known shape are judged by the detectors of the library detect_secrets, and by one of our own for
  makers that it does not know; its import is slow, so a detector is asked only about lines that hold a shape;
* private keys are taken as whole blocks, of which the library knows the first line;
* values assigned to names such as `password` are judged here, because the library's keyword detector takes
  the rest of the line for the value, sees one value a line, and none in a line that says "example".

Detectors of high entropy are left out, as the texts of a ledger are full of digests and ids. So is the one
for IBM Cloud IAM, to which any 44 letters after the word "pass" are a key.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memento_git.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

PRIVATE_KEY: Final = "Private Key"
API_KEY: Final = "API Key"
KEYWORD: Final = "Secret Keyword"


class SecretFound(Refused):
    """The text holds what looks like a secret, and a ledger is read by many and forgets nothing."""

    token = "secret_found"
    sentence = "{where} holds what looks like a secret ({rule}) in line {line}."
    hint_ = "Remove it, or repeat with --allow-secret {slug} if it is a false alarm."


class Secret(NamedTuple):
    rule: str
    line: int
    value: str


class _Span(NamedTuple):
    """Where in a text a secret is; of two rules that find it, the one of lower rank knows more."""

    start: int
    end: int
    rank: int
    rule: str


class _Rule(NamedTuple):
    """A detector, and what every text holds in which it finds something.

    That is one of the marks, in whatever case, and, at the find, the shape.
    """

    module: str
    detector: str
    marks: str
    shape: str


_IS: Final = r"""["']?\]? *(?:=>|:=|::|[=:]| ) *["']?"""
_KIND: Final = "(?:key|pwd|pw|password|pass|token)"
_LIBRARY: Final = tuple(
    _Rule(module, f"{detector}Detector", marks, shape)
    for module, detector, marks, shape in (
        ("artifactory", "Artifactory", "akc artif jfrog buildkit", r"AKC[^\W_]{10}|AP[\dA-F][^\W_]{8}"),
        (
            "aws",
            "AWSKey",
            "a3t abia acca akia asia aws",
            rf"A(?:3T\w|BIA|CCA|KIA|SIA)[0-9A-Z]{{16}}|(?i:aws.{{0,20}}?{_KIND}.{{0,24}}?[0-9a-z/+]{{40}})",
        ),
        ("azure_storage_key", "AzureStorageKey", "azure account", r"(?<![\w+/])[A-Za-z0-9+/]{86,88}=="),
        ("basic_auth", "BasicAuth", "://", r"://[^\s/?#@:]+:[^\s/?#@:]+@"),
        ("cloudant", "Cloudant", "cl", rf"(?i:cl(?:oudant|ou)?[_-]?(?:api)?{_KIND}{_IS}[0-9a-z]{{24}})"),
        ("discord", "DiscordBotToken", ".", r"[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27}"),
        ("github_token", "GitHubToken", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_\w{36}"),
        ("ibm_cos_hmac", "IbmCosHmac", "key", rf"(?i:secret[-_]?(?:access)?[-_]?key{_IS}[a-f0-9]{{48}})"),
        ("jwt", "JwtToken", "eyj", r"\.e[yw3]"),
        ("mailchimp", "Mailchimp", "-us", r"-us(?<=[0-9a-z]{32}-us)[0-9]"),
        (
            "npm",
            "Npm",
            "npm _authtoken",
            r"npm_[A-Za-z0-9-]{36}|(?:_authToken|NPM[ _-]?TOKEN)[\s\S]{0,14}?[a-z0-9-]{36}",
        ),
        ("sendgrid", "SendGrid", "sg.", r"SG\.[\w-]{22}\.[\w-]{43}"),
        ("slack", "Slack", "xox hooks.slack.com", r"(?i:xox[abposr]-\d+-|hooks\.slack\.com/services/T)"),
        (
            "softlayer",
            "Softlayer",
            "softlayer sl",
            rf"(?i:(?:softlayer|sl)[_-]?(?:api)?[_-]?{_KIND}{_IS}[a-z0-9]{{64}}|api.softlayer.com/soap/v3)",
        ),
        ("square_oauth", "SquareOAuth", "sq0csp-", r"sq0csp-[\w\\-]{43}"),
        ("stripe", "Stripe", "k_live_", r"[rs]k_live_[^\W_]{24}"),
        ("twilio", "TwilioKey", "ac sk", r"(?:AC|SK)[a-z0-9]{32}"),
    )
)
_OURS: Final = tuple(
    _Rule("", "ApiKeyDetector", mark, shape)
    for mark, shape in (
        ("sk-", r"sk-(?:(?:ant|proj|svcacct|admin|or-v1)-[\w-]{16,}|[A-Za-z0-9]{20,})"),  # OpenAI, Anthropic
        ("github_pat_", r"github_pat_\w{22,}"),
        ("gl", r"gl(?:pat|dt|rt|cbt|ptt|ft|agent|soat|imt|oas)-[\w-]{20,}"),  # GitLab
        ("aiza", r"AIza[\w-]{35}"),  # Google
        ("gocspx-", r"GOCSPX-[\w-]{28}"),
        ("ya29.", r"ya29\.[\w-]{20,}"),
        ("hf_", r"hf_[A-Za-z0-9]{34}"),  # Hugging Face
        ("gsk_", r"gsk_[A-Za-z0-9]{40,}"),  # Groq
        ("pypi-age", r"pypi-AgE[\w-]{50,}"),
        ("xapp-", r"xapp-\d-[A-Z0-9]+-\d+-[A-Za-z0-9]+"),  # Slack
        ("_v1_", r"do[opr]_v1_[a-f0-9]{64}"),  # DigitalOcean
        ("shp", r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}"),  # Shopify
        ("sq0atp-", r"sq0atp-[\w-]{22}"),  # Square
        ("k_test_", r"[rs]k_test_[0-9A-Za-z]{24,}"),  # Stripe
        ("whsec_", r"whsec_[A-Za-z0-9+/]{24,}"),
        ("dckr_pat_", r"dckr_pat_[\w-]{20,}"),
        ("hvs.", r"hvs\.[\w-]{24,}"),  # Vault
        ("dapi", r"dapi[a-f0-9]{32}"),  # Databricks
        ("age-secret-key-1", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
        ("://:", r"//:([^\s/?#@:]{6,})@"),  # a password without a user, as Redis has it
        (
            "authorization",
            (
                r"""(?i:authorization["'\\]{0,3}\s*[:=]\s*["'\\]{0,3}(?:bearer|basic|token)\s+)"""
                r"(?=[\w.~+/=-]*\d)([\w.~+/=-]{12,})"
            ),
        ),
    )
)
_RULES: Final = _LIBRARY + _OURS
_EASILY_MISLED: Final = frozenset({"Artifactory", "DiscordBotToken", "Npm", "TwilioKey"})
_LONG_LINE: Final = 32_768  # a longer line is judged in parts
_BEFORE: Final = 1_024
_AFTER: Final = 16_384
_SHORTEST: Final = 4
_AZURE_CONTEXT: Final = 1_500
_AWS_SECRET: Final = 40

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
    r"|deploy|nessus|recaptcha_\w{0,20})[_.-]?$",
    "pass": r"(?:_|db|database|key|user)$",
}
_ASSIGNED: Final = r"""(?x)
    (?P<suffix> \w{0,40} (?:-(?:access-)?key)? )
    (?: \[\d{0,4}\] )? (?: \\{0,3}["'`]\]? )?
    (?: [ \t]* (?P<op> => | := | ={1,3} | !==? | ::? ) [ \t]* | [ \t]+ )
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
_TEMPLATE: Final = (
    r"^[$<{\[*%(&]|\$[{(]|\{\{|%\(|<[a-z_ -]+>|^(?:[xX*.#_•-]|\\u2022)+$"
    r"|^(?i:your|insert|enter|placeholder|redacted|change_?-?me|xxx)"
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
_LONG_WORD: Final = 8
_MOST_ECHOES: Final = 200


def could_hold_secret(text: str) -> bool:
    """Tell cheaply whether a scanner would find anything to judge in the text.

    The scanners start from the very places that are searched for here, so nothing that any of their rules can
    match is in a text for which this is false.
    """
    low = _lower(text)
    return (
        any(True for rule in _RULES for _ in _lines(rule, text, low))
        or any(True for _ in _key_blocks(text, low))
        or any(True for _ in _assigned(text, low))
    )


def find_secrets(text: str) -> list[Secret]:
    """Return what looks like a secret, in the order of the text."""
    found, line, at = [], 1, 0
    for span in _spans(text):
        line += text.count("\n", at, span.start)
        at = span.start
        found.append(Secret(span.rule, line, text[span.start : span.end]))
    return found


def redact(text: str) -> tuple[str, dict[str, int]]:
    """Return the text with a note in the place of every secret, and how many there were by rule."""
    spans = _spans(text)
    counts: dict[str, int] = {}
    parts: list[str] = []
    at = 0
    for span in _merged([*spans, *_echoes(text, spans)]):
        counts[span.rule] = counts.get(span.rule, 0) + 1
        parts += text[at : span.start], f"[redacted: {span.rule}]"
        at = span.end
    return "".join([*parts, text[at:]]), counts


def refuse_secrets(where: str, text: str, allow: Collection[str] = ()) -> None:
    """Refuse a text that holds a secret, unless its rule is allowed by name."""
    allowed = {_slug(rule) for rule in allow}
    for secret in find_secrets(text):
        slug = _slug(secret.rule)
        if slug not in allowed:
            raise SecretFound(where=where, rule=secret.rule, line=secret.line, slug=slug)


def _slug(rule: str) -> str:
    return re.sub("[^a-z0-9]+", "-", rule.lower()).strip("-")


def _lower(text: str) -> str:
    """Return the text in lower case, every character in the place where it was."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(c.lower() if c.isascii() else c for c in text)


def _spans(text: str) -> list[_Span]:
    low = _lower(text)
    return _merged([*_key_blocks(text, low), *_shaped(text, low), *_assigned(text, low)])


def _merged(spans: list[_Span]) -> list[_Span]:
    """Return the spans in order; those that overlap become one, named by the rule that knows most."""
    merged: list[_Span] = []
    for span in sorted(spans):
        if merged and span.start < merged[-1].end:
            last = merged.pop()
            best = min(last, span, key=lambda one: one.rank)
            merged.append(best._replace(start=last.start, end=max(last.end, span.end)))
        else:
            merged.append(span)
    return merged


def _echoes(text: str, spans: list[_Span]) -> Iterator[_Span]:
    """Yield the other places at which the text repeats a secret that cannot be taken for a word."""
    known = {text[span.start : span.end]: span for span in spans}
    values = [value for value in known if len(value) >= _LONG_WORD and re.search(r"\d", value)]
    for value in values[:_MOST_ECHOES]:
        at = text.find(value)
        while at >= 0:
            yield known[value]._replace(start=at, end=at + len(value))
            at = text.find(value, at + len(value))


def _lines(rule: _Rule, text: str, low: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the lines, or parts of very long lines, that hold the rule's shape."""
    if not any(mark in low for mark in rule.marks.split()):
        return
    shape, at = re.compile(rule.shape), 0
    while match := shape.search(text, at):
        start = text.rfind("\n", 0, match.start()) + 1
        end = text.find("\n", match.end())
        at = end = len(text) if end < 0 else end
        if end - start > _LONG_LINE:
            start = max(start, match.start() - _BEFORE)
            end = min(end, match.end() + _AFTER)
            at = max(match.end(), end - _BEFORE)
        yield start, end


def _shaped(text: str, low: str) -> Iterator[_Span]:
    """Yield what the detectors find in the lines that hold their shapes."""
    rest = re.compile("[A-Za-z0-9_-]*")
    for rule in _RULES:
        for start, end in _lines(rule, text, low):
            detector = _detector(rule.module, rule.detector)
            for first, last in _found(detector, text[start:end]):
                more = rest.match(text, start + last)
                stop = more.end() if more else start + last
                yield _Span(start + first, stop, 1 if rule.module else 2, detector.secret_type)


@cache
def _detector(module: str, name: str) -> Any:
    """Return a detector of the library, or ours; the first one costs the import of the library."""
    if module:
        from importlib import import_module

        return getattr(import_module(f"detect_secrets.plugins.{module}"), name)()
    from detect_secrets.plugins.base import RegexBasedDetector

    class ApiKeyDetector(RegexBasedDetector):
        """Scan for the keys of makers that the library does not know."""

        secret_type = API_KEY
        denylist = tuple(re.compile(rf"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])){rule.shape}") for rule in _OURS)

    return ApiKeyDetector()


def _found(detector: Any, line: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the secrets in a line.

    The detectors' own search is of no use: for a GitHub token it returns "ghp", for one of npm nothing.
    """
    for pattern in detector.denylist:
        at = 0
        while match := pattern.search(line, at):
            start, end = _value_of(match, detector)
            at = match.start() + 1
            if _believable(detector, line, start, end):
                yield start, end
                at = max(match.end(), end, at)


def _value_of(match: re.Match[str], detector: Any) -> tuple[int, int]:
    """Return start and end of the secret in a match, without the quotes and spaces that are around it."""
    partly = match.re.groups and match[1] and type(detector).__name__ != "GitHubTokenDetector"
    start, end = match.span(1 if partly else 0)
    value = match.string[start:end]
    return end - len(value.lstrip(" \t\r\n\"'=:")), start + len(value.rstrip(" \t\r\n\"'"))


def _believable(detector: Any, line: str, start: int, end: int) -> bool:
    """Tell whether a match is more than an accident, for those detectors that are easily misled."""
    name, value = type(detector).__name__.removesuffix("Detector"), line[start:end]
    if name in _EASILY_MISLED:
        return re.search(r"\d", value) is not None
    if name in {"ApiKey", "BasicAuth"}:
        return len(value) >= _SHORTEST and not re.search(rf"{_TEMPLATE}|^(?i:pass(?:word)?)$", value)
    if name == "AWSKey" and len(value) == _AWS_SECRET:
        return all(re.search(kind, value) for kind in ("[0-9]", "[a-z]", "[A-Z]"))
    if name == "AzureStorageKey":
        near = line[max(0, start - _AZURE_CONTEXT) : end + _AZURE_CONTEXT]
        return bool(detector.analyze_line(filename="", line=near))
    return name != "JwtToken" or _is_token(detector, value)


def _is_token(detector: Any, value: str) -> bool:
    """Tell whether a JSON Web Token has a header and claims; whatever follows is not judged."""
    try:
        return bool(detector.is_formally_valid(".".join(value.split(".")[:2])))
    except RecursionError:
        return False


def _key_blocks(text: str, low: str) -> Iterator[_Span]:
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
            yield _Span(start, stop, 0, PRIVATE_KEY)


def _cut_off(text: str, at: int, most: int) -> int:
    """Return where the lines end that can belong to the key whose header ends here."""
    first, line = text.find("\n", at, most), re.compile(_KEY_LINE)
    stop = most if first < 0 else first + 1
    while (match := line.match(text, stop, most)) and match.end() > stop:
        stop = match.end()
    return stop


def _assigned(text: str, low: str) -> Iterator[_Span]:
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
            yield _Span(start, at, 3, KEYWORD)


def _is_option(text: str, name: re.Match[str]) -> bool:
    """Tell whether a name is that of a command's option, so that a space comes before the value."""
    return re.search(r"(?:^|\s)--[\w-]*$", text[max(0, name.start() - 32) : name.start()]) is not None


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
    first = re.search(r"([a-z]+)[_.-]?$", before)
    return words.isdisjoint(_OTHER_LAST.split()) and (not first or first[1] not in _OTHER_FIRST.split())


def _written_out(value: str) -> bool:
    """Tell whether a value can be a secret, as ids, paths, placeholders and words of prose cannot."""
    return (
        re.search(r"[^\W\d_]", value) is not None
        and not re.search(_TEMPLATE, value)
        and not re.fullmatch(_HARMLESS, value)
        and value.lower() not in _WORDS.split()
    )


def _fits(_text: str, _name: re.Match[str], match: re.Match[str], value: str) -> bool:
    """Tell whether a value in quotes is a secret."""
    return match["op"] is not None and (len(value) >= _LONG_WORD or re.search(r"\d", value) is not None)


def _fits_bare(text: str, name: re.Match[str], match: re.Match[str], value: str) -> bool:
    """Tell whether a value without quotes is a secret, and not the name of another thing or prose."""
    before, op = text[max(0, name.start() - 64) : match.end("suffix")], match["op"]
    digit = re.search(r"\d", value) is not None
    if op not in {None, "=", ":", ":="} or re.fullmatch(_NOT_BARE, value):
        return False
    if op is None:
        return digit
    if op == "=" and re.search(r"(?:^|\W)[A-Z0-9_]+$", before) and text[match.end("op")] not in " \t":
        return digit or len(value) >= _LONG_WORD
    colon = op == ":" and not name[0].startswith(("pass", "pwd"))
    return digit and not (colon and re.fullmatch(_NOT_AFTER_COLON, value))
