"""Tokens of a known shape: the library's detectors, asked only about lines that hold their shape."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from memento_git.model.tuples import NamedTuple

API_KEY: Final = "API Key"
LONG_WORD: Final = 8
TEMPLATE: Final = (
    r"^[$<{\[*%(&]|\$[{(]|\{\{|%\(|<[a-z_ -]+>|^(?:[xX*.#_•-]|\\u2022)+$"
    r"|^(?i:your|insert|enter|placeholder|redacted|change_?-?me|xxx)"
)


class Span(NamedTuple):
    """Where in a text a secret is; of two rules that find it, the one of lower rank knows more."""

    start: int
    end: int
    rank: int
    rule: str


class Rule(NamedTuple):
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
    Rule(module, f"{detector}Detector", marks, shape)
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
    Rule("", "ApiKeyDetector", mark, shape)
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
        (":aa", r"\d{8,10}:AA[\w-]{33}(?![\w-])"),  # Telegram
        ("glsa_", r"glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}"),  # Grafana
        ("glc_", r"glc_(?=[A-Za-z+/]*\d)[A-Za-z0-9+/]{32,}={0,2}"),  # Grafana
        ("nrak-", r"NRAK-[A-Z0-9]{27}"),  # New Relic
        ("lin_", r"lin_(?:api|oauth)_[A-Za-z0-9]{40}"),  # Linear
        ("ntn_", r"ntn_[A-Za-z0-9]{46}"),  # Notion
        ("secret_", r"secret_(?=[A-Za-z]*\d)[A-Za-z0-9]{43}(?!\w)"),  # Notion
        ("figd_", r"figd_(?=[A-Za-z_-]*\d)[\w-]{40}"),  # Figma
        ("sntry", r"sntry[su]_(?=[A-Za-z+/=_-]*\d)[\w+/=-]{40,}"),  # Sentry
        ("dp.", r"dp\.(?:audit|ct|pt|sa|scim|st)\.(?:[\w-]{2,35}\.)?[A-Za-z0-9]{40,44}(?!\w)"),  # Doppler
        (".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,}"),  # HashiCorp
        ("fm1 fm2 fo1", r"(?:fm[12]_(?=[A-Za-z]*\d)[\w+/=,-]{60,}|fo1_[\w-]{43})"),  # Fly
        ("sbp_", r"sbp_[a-f0-9]{40}"),  # Supabase
        ("pscale_", r"pscale_(?:oauth|pw|tkn)_(?=[A-Za-z_=.-]*\d)[\w=.-]{32,}"),  # PlanetScale
        ("pmak-", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),  # Postman
        ("pat", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),  # Airtable
        ("atatt3", r"ATATT3[\w=-]{60,}"),  # Atlassian
        ("r8_", r"r8_[A-Za-z0-9]{37}"),  # Replicate
        ("pplx-", r"pplx-[A-Za-z0-9]{48}"),  # Perplexity
        ("xai-", r"xai-[A-Za-z0-9]{70,}"),
        ("mailgun", r"(?i:mailgun)[^\n]{0,80}?\b(key-[a-f0-9]{32})\b"),
        ("/api/webhooks/", r"discord(?:app)?\.com/api/webhooks/\d{16,20}/([\w-]{60,})"),
        ("sig=", r"(?<=[?&])sig=((?:[\w+/-]|%2[BbFf]){43}(?:%3[Dd]|=))"),  # Azure
        ("$5 $6", r"\$[56]\$((?:rounds=\d+\$)?[\w./]{1,16}\$[\w./]{43,86})"),  # a hash of a password
        ("$apr1", r"\$apr1\$([\w./]{1,8}\$[\w./]{22})"),
        (  # a user's password for curl
            "curl",
            (
                r"""curl\b[^\n|;&]{0,400}?\s(?:-[A-Za-z#]{0,8}[uU]|--(?:proxy-)?user)(?:\s*=\s*|\s*)"""
                r"""["']?[^\s:"']{1,128}:([^\s"']{4,})"""
            ),
        ),
        (  # where a command begins, or with a user
            "mysql mariadb",
            (
                r"""(?:(?:mysql|mariadb)(?:-?(?:admin|dump))?\s[^\n|;&]{0,200}?(?:-u|--user)[^\n|;&]{0,200}?"""
                r"""|(?:\A|(?<=[\n;&|(`"'])|(?<=[;&|($] )|(?<=sudo ))(?:mysql|mariadb)(?:-?(?:admin|dump))?"""
                r"""(?:\s[^\n|;&]{0,200}?)?)\s-p["']?(?=\S*\d)(?=\S*[A-Za-z])([^\s"']{6,})"""
            ),
        ),
        ("sshpass", r"""sshpass\s+-p\s*["']?(?=\S*\d)([^\s"']{4,})"""),
        ("login -", r"""(?:docker|podman)\s+login\s[^\n|;&]{0,200}?-p[\s=]*["']?(?=\S*\d)([^\s"']{6,})"""),
        ("machine", r"machine\s+\S{1,253}\s+login\s+\S{1,128}\s+password\s+(?=\S*\d)(\S{4,})"),  # .netrc
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
RULES: Final = _LIBRARY + _OURS
_MARKED: Final = tuple((mark, number) for number, rule in enumerate(RULES) for mark in rule.marks.split())
_EASILY_MISLED: Final = frozenset({"Artifactory", "DiscordBotToken", "Npm", "TwilioKey"})
_LONG_LINE: Final = 32_768  # a longer line is judged in parts
_BEFORE: Final = 1_024
_AFTER: Final = 16_384
_SHORTEST: Final = 4
_AZURE_CONTEXT: Final = 1_500
_AWS_SECRET: Final = 40


def lower(text: str) -> str:
    """Return the text in lower case, every character in the place where it was."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(c.lower() if c.isascii() else c for c in text)


def lines(rule: Rule, text: str, low: str) -> Iterator[tuple[int, int]]:
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


def shaped(text: str, low: str) -> Iterator[Span]:
    """Yield what the detectors find in the lines that hold their shapes."""
    rest = re.compile("[A-Za-z0-9_-]*")
    for number in sorted({number for mark, number in _MARKED if mark in low}):
        rule = RULES[number]
        for start, end in lines(rule, text, low):
            detector = _detector(rule.module, rule.detector)
            for first, last in _found(detector, text[start:end]):
                more = rest.match(text, start + last)
                stop = more.end() if more else start + last
                yield Span(start + first, stop, 1 if rule.module else 2, detector.secret_type)


def of_shapes() -> set[str]:
    """Return the names of the rules of all detectors."""
    return {_detector(rule.module, rule.detector).secret_type for rule in RULES}


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
        return len(value) >= _SHORTEST and not re.search(rf"{TEMPLATE}|^(?i:pass(?:word)?)$", value)
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
