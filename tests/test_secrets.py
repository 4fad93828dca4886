from __future__ import annotations

import base64
import importlib
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memento_git.texts import secret_shapes, secret_values
from memento_git.texts.secrets import Secret, SecretFound, find_secrets, redact, refuse_secrets

ROOT = Path(__file__).parent.parent
MIXED = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6"
GITHUB = "gh" + "p_" + MIXED[:36]
AWS = "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY"
BODY = "MIIEpAIBAAKCAQEA7bq+Xv0eT1n2Zp3Qw4Rr5Ss6Tt7Uu8Vv9Ww0Xx1Yy2Zz3Aa4"
PEM = "-----BEGIN RSA PRI" + f"VATE KEY-----\n{BODY}\n{BODY}\nabc=\n-----END RSA PRI" + "VATE KEY-----"


def encoded(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


JWT = ".".join([encoded('{"alg":"HS256"}'), encoded('{"sub":"1234567890"}'), "dBjftJeZ4CVPmB92K27uhbUJU1p1r_wW1g"])
AZURE = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq" + "/K1SZFPTOtr/KBHBeksoGMGw=="

# For every detector: a text that holds a secret, and the secret.
SAMPLES = {
    "Artifactory": [("key: " + "AKC" + MIXED[:20], "AKC" + MIXED[:20])],
    "AWSKey": [("id AKIA" + "IOSFODNN7EXAMPLE.", "AKIA" + "IOSFODNN7EXAMPLE"), (f"aws_secret_access_key = {AWS}", AWS)],
    "AzureStorageKey": [(f"AccountName=azure;AccountKey={AZURE};EndpointSuffix=core", AZURE)],
    "BasicAuth": [("https://user:" + "hunter22@host/x", "hunter22")],
    "Cloudant": [("cl_key = " + "abcdefghijklmnopqrstuvwx", "abcdefghijklmnopqrstuvwx")],
    "DiscordBotToken": [
        (f"bot MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.{MIXED[:27]}", f"MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.{MIXED[:27]}")
    ],
    "GitHubToken": [(f"token={GITHUB}", GITHUB), (f"GITHUB_TOKEN: {GITHUB}", GITHUB)],
    "IbmCosHmac": [("cos_hmac_secret_key=" + "0a1b2c" * 8, "0a1b2c" * 8)],
    "JwtToken": [(f"keyJson={JWT}, said the log.", JWT)],
    "Mailchimp": [("0a1b2c3d" * 4 + "-us12", "0a1b2c3d" * 4 + "-us12")],
    "Npm": [
        ("npm" + "_" + MIXED[:36], "npm" + "_" + MIXED[:36]),
        ("//x/:_authToken=" + "01234567-89ab-cdef-0123-456789abcdef", "01234567-89ab-cdef-0123-456789abcdef"),
    ],
    "SendGrid": [("SG." + f"{MIXED[:22]}.{MIXED[:43]}", "SG." + f"{MIXED[:22]}.{MIXED[:43]}")],
    "Slack": [
        ("xox" + "b-123456789012-abcdefABCDEF", "xox" + "b-123456789012-abcdefABCDEF"),
        (
            "https://hooks.slack" + ".com/services/T0AB/B0CD/x1y2z3",
            "https://hooks.slack" + ".com/services/T0AB/B0CD/x1y2z3",
        ),
    ],
    "Softlayer": [("softlayer_key: " + "0a1b2c3d" * 8, "0a1b2c3d" * 8)],
    "SquareOAuth": [("sq0csp" + f"-{MIXED[:43]}", "sq0csp" + f"-{MIXED[:43]}")],
    "Stripe": [("sk_live" + f"_{MIXED[:30]}", "sk_live" + f"_{MIXED[:30]}")],
    "TwilioKey": [("SK" + "0a1b2c3d" * 4, "SK" + "0a1b2c3d" * 4)],
}
OURS = {
    "sk-": "sk" + "-" + MIXED[:48],
    "github_pat_": "github" + f"_pat_{MIXED}",
    "gl": "glpat" + f"-{MIXED[:20]}",
    "aiza": "AIza" + MIXED[:35],
    "gocspx-": "GOCSPX" + f"-{MIXED[:28]}",
    "ya29.": "ya29" + f".{MIXED[:30]}",
    "hf_": "hf" + f"_{MIXED[:34]}",
    "gsk_": "gsk" + f"_{MIXED}",
    "pypi-age": "pypi" + f"-AgEIcHlwaS5vcmc{MIXED}",
    "xapp-": "xapp" + "-1-A0B1C2-1234567890-0a1b2c",
    "_v1_": "dop" + "_v1_" + "0a1b2c3d" * 8,
    "shp": "shpat" + "_" + "0a1b2c3d" * 4,
    "sq0atp-": "sq0atp" + f"-{MIXED[:22]}",
    "k_test_": "sk_test" + f"_{MIXED[:24]}",
    "whsec_": "whsec" + f"_{MIXED[:32]}",
    "dckr_pat_": "dckr" + f"_pat_{MIXED[:27]}",
    "hvs.": "hvs" + f".{MIXED[:24]}",
    "dapi": "dapi" + "0a1b2c3d" * 4,
    "age-secret-key-1": "AGE-SECRET" + "-KEY-1" + MIXED.upper() + "ABCDEF",
    ":aa": "123456789" + f":AA{MIXED[:33]}",
    "glsa_": "glsa" + f"_{MIXED[:32]}_0a1b2c3d",
    "glc_": "glc" + f"_{MIXED}",
    "nrak-": "NRAK" + f"-{MIXED[:27].upper()}",
    "lin_": "lin" + f"_api_{MIXED[:40]}",
    "ntn_": "ntn" + f"_{MIXED[:46]}",
    "secret_": "secret" + f"_{MIXED[:43]}",
    "figd_": "figd" + f"_{MIXED[:40]}",
    "sntry": "sntrys" + f"_{MIXED}",
    "dp.": "dp" + f".pt.{MIXED[:43]}",
    ".atlasv1.": MIXED[:14] + f".atlasv1.{MIXED}{MIXED[:12]}",
    "fm1 fm2 fo1": "FlyV1 fm2" + f"_{MIXED}{MIXED}",
    "sbp_": "sbp" + "_" + "0a1b2c3d" * 5,
    "pscale_": "pscale" + f"_tkn_{MIXED[:43]}",
    "pmak-": "PMAK" + "-" + "0a1b2c3d" * 3 + "-" + "0a1b2c3d4e" * 3 + "0a1b",
    "pat": "pat" + MIXED[:14] + "." + "0a1b2c3d" * 8,
    "atatt3": "ATATT3" + f"xFfGF0{MIXED}{MIXED}",
    "r8_": "r8" + f"_{MIXED[:37]}",
    "pplx-": "pplx" + f"-{MIXED[:48]}",
    "xai-": "xai" + f"-{MIXED}{MIXED[:28]}",
    "mailgun": "MAILGUN: key" + "-" + "0a1b2c3d" * 4,
    "/api/webhooks/": "https://discord.com/api/webhooks" + f"/123456789012345678/{MIXED}{MIXED[:16]}",
    "sig=": "https://a.example/c?sv=2021-06-08" + f"&sig={MIXED[:41]}%2B1%3D",
    "$5 $6": "root:$6$" + f"saltsalt${MIXED}{MIXED[:34]}:19000:0",
    "$apr1": "admin:$apr1$" + f"abcdefgh${MIXED[:22]}",
    "mysql mariadb": "mysql -h db -u root " + "-ps3cretPass shop",
    "sshpass": "sshpass " + "-p 'hunter22' ssh host",
    "login -": "docker login -u ada " + "-p hunter22x registry.example",
    "machine": "machine a.example login ada " + "password hunter22x",
    "curl": "curl -sSu me:" + "hunter22 https://host/x",
    "://:": "redis://:" + "hunter22@cache",
    "authorization": "Authorization: " + "Bearer abcDEF1234567890",
}
ASSIGNED = {
    'password = "' + 'hunter2hunter2"': "hunter2hunter2",
    f"AWS_SECRET={AWS}": AWS,
    "password: " + "hunter2": "hunter2",
    '{"password": "' + 'swordfish"}': "swordfish",
    r"{\"password\": \"" + r"hunter2hunter2\"}": "hunter2hunter2",
    'cfg["db_password"] = "' + 'hunter22"': "hunter22",
    "char my_password[25] = " + '"hunter22";': "hunter22",
    "export PGPASSWORD='" + "s3cr3t!'": "s3cr3t!",
    "DB_PASSWORD=" + "correcthorse": "correcthorse",
    "SECRET_KEY=" + "0f1e2d3c" * 8: "0f1e2d3c" * 8,
    "X-Api-Key: " + "0f1e2d3c" * 4: "0f1e2d3c" * 4,
    "tool --password " + "hunter22 --verbose": "hunter22",
    "tool --api-token=" + "abc123def": "abc123def",
    "GET /x?token=" + "abc123def&page=2": "abc123def",
    "Server=x;Password=" + "hunter22;Database=y": "hunter22",
    "login(user=me, password=" + "hunter22)": "hunter22",
    "accessToken: '" + "abc123def456'": "abc123def456",
    'password = "' + 'correct-horse-battery-staple"': "correct-horse-battery-staple",
    'password = "' + r'quo\"ted9"': r"quo\"ted9",
    'a log that is cut off: password="' + "hunter2h": "hunter2h",
    "**Password:** " + "hunter22x": "hunter22x",
    "- **Token**: `" + "abc123def456`": "abc123def456",
    "*Token:* " + "0f1e2d3c4b5a-x": "0f1e2d3c4b5a-x",
}
ORDINARY = [
    "Set this on the service\nkey: k8s.probes.shallow",
    "title: Probes never touch the database\nkey: k8s.probes.shallow",
    "Ask the user\npass: k8s1probes2shallow",
    "memento note add --db\ntoken abc1def2",
    "3f786850e387550fdab836ed7e6dc881de23001b",
    "sha256:" + "9f86d081" * 8,
    "task_7k2m9p4x1c0d",
    "123e4567-e89b-12d3-a456-426614174000",
    "Empty passwords are refused with 422.",
    "add a token budget",
    "password reset: done",
    "--password-file option",
    "--password-file=/run/secrets/password1",
    "use the --token option",
    "curl -u me:$PASSWORD https://host/x",
    "docker run -u 1000:1000 image",
    "a password, a token and a secret",
    "token: task_7k2m9p4x1c0d",
    "api_key: 123e4567-e89b-12d3-a456-426614174000",
    "token: 3f786850e387550fdab836ed7e6dc881de23001b",
    "token_sha256=" + "9f86d081" * 8,
    '{"token": "secret_found", "hint": "remove it"}',
    '{"token": "plan_has_no_open_tasks"}',
    '{"password": "This field is required."}',
    '{"password": "required"}',
    '{"next_token": "abc123def456"}',
    "password: required",
    "tokens: 12000 in, 900 out",
    "max_tokens=4096tok",
    '"tokenizer": "cl100k_base"',
    "secret: sha256",
    "token = get_token(1)",
    "password=self.password2",
    'api_key=os.environ["API_KEY_1"]',
    "password=${DB_PASSWORD1}",
    'password: "{{ vault_password_1 }}"',
    "PASSWORD=********",
    "api_key=YOUR_API_KEY_1",
    "https://$USER:$TOKEN@host",
    "https://user:<password>@host",
    "https://user:password@host",
    "https://host:8080/@scope/name",
    "PWD=/home/me/work1",
    "--- PASS: TestReadReportRefusesEntityBombsAndExternalEnt (0.00s)",
    "pass test_a_failed_case_is_named_and_counted_once",
    "integrity sha512-" + "A1b/" * 21 + "Ab==",
    "aws key rotation is in 3f786850e387550fdab836ed7e6dc881de23001b",
    "risk-abcdefghij0123456789",
    "sk-toggleable__label-arrow-1234",
    "**Password:** at least 12 characters",
    "password:***REMOVED1***",
    "**Token**: expires after 3600s",
    "PASSWORD=***hidden9***",
    "cache-key-" + "0a1b2c3d" * 4,
    "https://a.example/x?sig=short&x=1",
    "docker run --name mysql -p3306:3306 mysql:8",
    "mysql -u root -p shop2 < dump.sql",
    "mysql -uroot -p$PASS1 shop",
    "mysql -p$PASS1234 shop",
    "mysql -p shop2024",
    "mysql && mkdir -pv folder1234",
    "go test ./mysql -parallel=4",
    "ssh -p22 host",
    "sshpass -p $PASS1 ssh host",
    "docker login -u ada -p ${TOKEN1} registry.example",
    "machine HOST login USER password PASSWORD",
    "use fm2_ and r8_ and ntn_ as prefixes",
    "secret_key_of_the_second_service_2",
    "lin_api_of_the_linear_client_in_version_2_of_the_code",
    "the path pat/0a1b.py and dp.pt.x",
    "10:30:00:AAAA",
    "$6 and $5 are prices",
    "na\u00efve \u2764\ufe0f pass\u00adword of the day",
    "-----BEGIN PRIVATE " + "KEY----- must be refused everywhere",
    "between BEGIN PRIVATE " + "KEY and END PRIVATE KEY nothing stands",
    "[redacted: GitHub Token]: abc123def456",
]
EVERY = [text for pairs in SAMPLES.values() for text, _ in pairs] + list(OURS.values()) + list(ASSIGNED) + [PEM]


def detector(rule: Any) -> Any:
    return getattr(importlib.import_module(f"detect_secrets.plugins.{rule.module}"), rule.detector)()


def could_hold_secret(text: str) -> bool:
    """Tell whether any scanner would be asked about the text at all."""
    low = secret_shapes.lower(text)
    shaped = any(True for rule in secret_shapes.RULES for _ in secret_shapes.lines(rule, text, low))
    return shaped or any(secret_values.key_blocks(text, low)) or any(secret_values.assigned(text, low))


def the_secret(text: str) -> Secret:
    (secret,) = find_secrets(text)
    return secret


@pytest.mark.parametrize("rule", secret_shapes._LIBRARY, ids=lambda rule: rule.detector)
def test_every_detector_finds_its_secret(rule: Any) -> None:
    for text, value in SAMPLES[rule.detector.removesuffix("Detector")]:
        assert could_hold_secret(text)
        assert the_secret(text) == Secret(detector(rule).secret_type, 1, value)


@pytest.mark.parametrize("rule", secret_shapes._OURS, ids=lambda rule: rule.marks)
def test_every_maker_of_keys_is_known(rule: Any) -> None:
    text = OURS[rule.marks]
    assert could_hold_secret(text)
    assert the_secret(f"it says\n{text}\nand ends")[:2] == ("API Key", 2)


@pytest.mark.parametrize("prefix", ["ant-api03", "proj", "svcacct"])
def test_keys_of_openai_and_anthropic_are_found(prefix: str) -> None:
    key = "sk" + f"-{prefix}-{MIXED}-{MIXED}_AA"
    assert the_secret(f"export KEY_OF_MINE={key}").value == key


@pytest.mark.parametrize("rule", secret_shapes._LIBRARY, ids=lambda rule: rule.detector)
def test_nothing_that_a_detector_can_match_is_held_back_from_it(rule: Any) -> None:
    stricter = {"AzureStorageKeyDetector", "JwtTokenDetector"}

    @settings(max_examples=60, database=None)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        pattern = data.draw(st.sampled_from(list(detector(rule).denylist)))
        assert could_hold_secret(data.draw(st.from_regex(pattern, alphabet=st.characters(codec="ascii"))))

    if rule.detector not in stricter:
        check()


def test_names_that_the_library_takes_for_those_of_secrets_are_known() -> None:
    from detect_secrets.plugins.keyword import DENYLIST

    names = [
        "api_key",
        "api-key",
        "api.key",
        "auth_key",
        "authkey",
        "service_key",
        "account_key",
        "db_key",
        "database_key",
        "priv_key",
        "private_key",
        "client_key",
        "db_pass",
        "dbpass",
        "database_pass",
        "key_pass",
        "password",
        "passwd",
        "token",
        "my_pass",
        "pwd",
        "secret",
        "contraseña",
        "contrasena",
        "recaptcha_site_key",
        "nessus_key",
    ]
    for known in DENYLIST:
        assert any(re.search(known, name) for name in names), known
    for name in names:
        assert the_secret(f'{name} = "' + 'hunter2hunter2"').value == "hunter2hunter2"


def test_rules_have_the_names_that_the_library_has() -> None:
    from detect_secrets.plugins.keyword import KeywordDetector
    from detect_secrets.plugins.private_key import PrivateKeyDetector

    assert KeywordDetector.secret_type == secret_values.KEYWORD
    assert PrivateKeyDetector.secret_type == secret_values.PRIVATE_KEY


@pytest.mark.parametrize("text", ASSIGNED)
def test_an_assigned_secret_is_found(text: str) -> None:
    assert could_hold_secret(text)
    assert the_secret(text) == Secret("Secret Keyword", 1, ASSIGNED[text])


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_holds_no_secret(text: str) -> None:
    assert find_secrets(text) == []
    assert find_secrets(f"Before.\n{text}\nAfter.") == []
    assert redact(text) == (text, {})
    refuse_secrets("summary", text)


@pytest.mark.parametrize(
    ("before", "after"),
    [("", ""), ("sudo ", ""), ("$ ", ""), ("cd a && ", ""), ("Run `", "`"), ("sh -c '", "'"), ("first\n", "")],
)
def test_a_password_for_a_data_base_is_found_where_a_command_begins(before: str, after: str) -> None:
    assert find_secrets(f"{before}mysql -h db {'-ps3cretPass'} shop{after}")
    assert find_secrets(f"{before}mysqldump {'-ps3cretPass'} shop{after}")


@pytest.mark.parametrize("text", EVERY)
def test_a_redacted_text_holds_no_secret(text: str) -> None:
    (value,) = {secret.value for secret in find_secrets(text)}
    redacted, counts = redact(f"{text}\nlast")
    assert value not in redacted
    assert redacted.endswith("\nlast")
    assert counts == {the_secret(text).rule: 1}
    assert redact(redacted) == (redacted, {})


@pytest.mark.parametrize("text", EVERY)
@pytest.mark.parametrize("mark", ["\u200b", "\u2060", "\u00ad"])
def test_characters_that_nobody_sees_hide_no_secret(text: str, mark: str) -> None:
    at = text.index(the_secret(text).value) + 3
    hidden = f"{mark}na\u00efve\n{text[:at]}{mark}{text[at:]}\nlast"
    (found,) = find_secrets(hidden)
    assert (found.line, found.value.replace(mark, "")) == (the_secret(text).line + 1, the_secret(text).value)
    assert redact(hidden)[0] == f"{mark}na\u00efve\n{redact(text)[0]}\nlast"


def test_wide_letters_hide_no_secret() -> None:
    wide = "".join(chr(ord(letter) + 0xFEE0) if letter.isalpha() else letter for letter in GITHUB)
    assert [secret.value for secret in find_secrets(f"the token is {wide}")] == [wide]
    assert redact(f"the token is {wide}.")[0] == "the token is [redacted: GitHub Token]."


def test_secrets_are_listed_with_their_lines() -> None:
    text = f"one\n\n{GITHUB}\nfour password=" + "hunter22 and secret=" + "hunter23\n"
    assert find_secrets(text) == [
        Secret("GitHub Token", 3, GITHUB),
        Secret("Secret Keyword", 4, "hunter22"),
        Secret("Secret Keyword", 4, "hunter23"),
    ]


def test_a_redacted_secret_leaves_the_rest_of_its_line() -> None:
    text = f'curl -H "Authorization: token {GITHUB}" https://me:' + "hunter22@host/x # password"
    redacted = 'curl -H "Authorization: token [redacted: GitHub Token]" '
    redacted += "https://me:[redacted: Basic Auth Credentials]@host/x # password"
    assert redact(text) == (redacted, {"GitHub Token": 1, "Basic Auth Credentials": 1})


def test_a_secret_is_redacted_wherever_it_is_repeated() -> None:
    text = "password=" + "hunter22abc\nlogged in with hunter22abc"
    redacted = "password=[redacted: Secret Keyword]\nlogged in with [redacted: Secret Keyword]"
    assert redact(text) == (redacted, {"Secret Keyword": 2})


def test_a_password_that_is_a_word_is_not_redacted_elsewhere() -> None:
    text = "postgres://me:" + "postgres@localhost\npostgres is up"
    assert redact(text)[0] == "postgres://me:[redacted: Basic Auth Credentials]@localhost\npostgres is up"


def test_a_token_longer_than_its_rule_knows_is_redacted_whole() -> None:
    assert redact("sk_live" + f"_{MIXED} ok")[0] == "[redacted: Stripe Access Key] ok"


def test_a_secret_in_a_very_long_line_is_found() -> None:
    line = "x" * 100_000 + f" {GITHUB} " + "y" * 100_000 + f" {JWT} " + "z" * 50_000
    assert [secret.rule for secret in find_secrets(line)] == ["GitHub Token", "JSON Web Token"]


@pytest.mark.parametrize("title", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "DSA "])
def test_a_private_key_is_redacted_whole(title: str) -> None:
    key = PEM.replace("RSA ", title)
    assert redact(f"key:\n{key}\nafter") == ("key:\n[redacted: Private Key]\nafter", {"Private Key": 1})
    assert the_secret(f"key:\n{key}\nafter") == Secret("Private Key", 2, key)


def test_a_private_key_of_pgp_or_putty_is_redacted_whole() -> None:
    block = f"-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: x\n\n{BODY}\n=aB1c\n-----END PGP PRIVATE KEY BLOCK-----"
    putty = "PuTTY-User-Key" + f"-File-2: ssh-rsa\nEncryption: none\nPrivate-Lines: 1\n{BODY}\nPrivate-MAC: 0a1b2c"
    assert redact(f"{block}\n{putty}\n") == ("[redacted: Private Key]\n[redacted: Private Key]\n", {"Private Key": 2})


def test_a_private_key_with_headers_is_redacted_whole() -> None:
    key = PEM.replace(f"\n{BODY}", f"\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B\n\n{BODY}", 1)
    assert redact(key)[0] == "[redacted: Private Key]"


def test_a_private_key_in_a_json_string_is_redacted_whole() -> None:
    text = '{"private_key": "' + PEM.replace("\n", r"\n") + r'\n", "a": 1}'
    assert redact(text)[0] == r'{"private_key": "[redacted: Private Key]\n", "a": 1}'


def test_a_private_key_that_is_cut_off_is_redacted_as_far_as_it_goes() -> None:
    cut = PEM[: PEM.index("abc=")]
    assert redact(f"{cut}abc\n==> next line")[0] == "[redacted: Private Key]==> next line"
    assert redact(cut[:-30])[0] == "[redacted: Private Key]"


def test_two_private_keys_are_two() -> None:
    assert redact(f"{PEM}\nand\n{PEM}\n")[1] == {"Private Key": 2}


def test_a_refusal_names_the_field_and_the_rule_but_not_the_secret() -> None:
    with pytest.raises(SecretFound) as caught:
        refuse_secrets("summary", f"one\nsee {GITHUB}")
    error = caught.value
    assert error.token == "secret_found"
    assert error.message == "summary holds what looks like a secret (GitHub Token) in line 2."
    assert error.hint == "Remove it, or repeat it in a shell with --allow-secret github-token if it is a false alarm."
    assert GITHUB not in f"{error!r} {error.facts}"


@pytest.mark.parametrize("allowed", ["GitHub Token", "github token", "github-token", "GITHUB_TOKEN"])
def test_a_rule_is_allowed_by_name(allowed: str) -> None:
    refuse_secrets("summary", GITHUB, [allowed])


def test_allowing_one_rule_does_not_allow_another() -> None:
    with pytest.raises(SecretFound, match="Secret Keyword"):
        refuse_secrets("summary", f"{GITHUB} password=" + "hunter22", ["github-token"])


def test_a_refusal_names_allowed_rules_that_the_scanner_does_not_have() -> None:
    with pytest.raises(SecretFound) as caught:
        refuse_secrets("summary", GITHUB, ["github", "private-key", "Secret Keyword", "AWS Access Key", "api-key"])
    told = "summary holds what looks like a secret (GitHub Token) in line 1. The scanner has no rule github."
    assert caught.value.message == told


PIECES = [
    *EVERY,
    *ORDINARY,
    "password=",
    "token: ",
    '"',
    "://a:",
    "@",
    "eyJ",
    ".eyJ",
    "-----BEGIN PRIVATE " + "KEY-----",
    "\n",
]


@settings(max_examples=300, database=None)
@given(st.lists(st.sampled_from(PIECES) | st.text(st.characters(exclude_categories=())), max_size=6).map("".join))
def test_any_text_can_be_redacted(text: str) -> None:
    found = find_secrets(text)
    redacted, counts = redact(text)
    assert bool(counts) == bool(found) == (redacted != text)  # secrets side by side may be one note
    assert all(secret.value in text and secret.value for secret in found)
    assert could_hold_secret(text) or (not found and redacted == text)


LOG = "2026-01-02T03:04:05Z INFO tests/test_cart.py::test_total[3f786850e387550fdab836ed7e6dc881de23001b] PASSED\n"
CHATTY = (
    '{"level": "info", "token_count": 1200, "password": null, "url": "https://api.example.com:8080/v1", "key": 1}\n'
)


@pytest.mark.parametrize(
    "line", [LOG, CHATTY, CHATTY.strip(), f"{GITHUB}\n", "x" * 76 + "\n", "eyJ", "-----BEGIN PRIVATE KEY\n"]
)
def test_a_megabyte_of_log_is_redacted_in_seconds(line: str) -> None:
    text = line * (1_000_000 // len(line))
    start = time.process_time()
    redact(text)
    assert time.process_time() - start < 10


def run(code: str) -> str:
    command = [sys.executable, "-W", "error", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{code}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_ordinary_text_is_scanned_without_the_library() -> None:
    texts = [*ORDINARY[:9], *ASSIGNED][:12]
    code = f"from memento_git.texts.secrets import redact\nfor text in {texts!r}: redact(text)\n"
    assert run(f"{code}print('detect_secrets' in sys.modules)").strip() == "False"


def test_no_scanner_connects_to_anything() -> None:
    code = (
        "def refuse(event, _):\n"
        "    if event.startswith(('socket.connect', 'socket.getaddrinfo', 'socket.sendto')): raise SystemExit(event)\n"
        "sys.addaudithook(refuse)\n"
        "from memento_git.texts.secrets import redact\n"
        f"for text in {EVERY!r}: redact(text)\n"
        "print('done')"
    )
    assert run(code).strip() == "done"
