"""What a text is found by."""

from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memento_git.knowledge import words as w
from memento_git.knowledge.lexicon import ALIKE, ASKING, EMPTY, EVERYDAY, IRREGULAR, SHORT


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Running runs", ["run", "run"]),
        ("retries retried retry", ["retri"] * 3),
        ("the of and", []),
        ("getUserById", ["getuserbyid", "get", "user", "id"]),
        ("get_user_by_id", ["getuserbyid", "get", "user", "id"]),
        ("get-user-by-id", ["getuserbyid", "get", "user", "id"]),
        ("GetUserByID", ["getuserbyid", "get", "user", "id"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("__init__", ["initi"]),
        ("SCREAMING_CASE", ["screamingcas", "scream", "case"]),
        ("sha256", ["sha256", "sha"]),
        ("utf-8", ["utf8", "utf", "8"]),
        ("UTF8", ["utf8", "utf"]),
        ("E0308", ["e0308"]),
        ("502s 30s 25MB 800ms 1990s", ["502s", "502", "30s", "30", "25mb", "25", "800ms", "800", "1990s", "1990"]),
        ("64KiB 10GB/s 100\u00b5s", ["64kib", "64", "ki", "b", "10gb/s", "10gb", "10", "s", "100\u03bcs", "100"]),
        ("3.8GB 1.5s 1.2.3-s", ["3.8gb", "3.8", "1.5s", "1.5", "1.2.3-s", "1.2.3", "1.2"]),
        ("v2 x86 9d02 0x1f", ["v2", "x86", "9d02", "0x1f"]),
        ("1.2.3", ["1.2.3", "1.2"]),
        ("v1.2.3", ["1.2.3", "1.2"]),
        ("2.0.0-rc1", ["2.0.0-rc1", "2.0.0", "2.0"]),
        ("v3.12.0b1 3.11-slim", ["3.12.0b1", "3.12.0", "3.12", "3.11-slim", "3.11"]),
        ("3.11", ["3.11"]),
        ("python3.11", ["python3.11", "3.11", "python3", "python", "11"]),
        ("#123", ["#123", "123"]),
        ("GH-123", ["#123", "123"]),
        ("owner/repo#7", ["owner/repo", "owner", "repositori", "#7", "7"]),
        ("ABC-123", ["abc123", "abc", "123"]),
        ("src/auth/tokens.py", ["src/auth/tokens.py", "src", "auth", "token", "py"]),
        ("src\\auth", ["src/auth", "src", "auth"]),
        ("os.path.join", ["os.path.join", "os", "path", "join"]),
        ("std::vector", ["std.vector", "std", "vector"]),
        ("C++ C# .NET", ["c++", "c#", ".net"]),
        ("@pytest.fixture", ["pytest.fixture", "pytest", "fixtur"]),
        ("--dry-run", ["dryrun", "dri", "run"]),
        ("café Łódź naïve", ["cafe", "lodz", "naiv"]),
        ("cafe\u0301", ["cafe"]),
        ("Straße", ["strass"]),
        ("don't user's users\u2019", ["dont", "user", "user"]),
        ("behaviour behavior serialise serialize", ["behavior", "behavior", "serial", "serial"]),
        ("chose chosen choose", ["choos"] * 3),
        ("config configuration repos DB", ["configur", "configur", "repositori", "databas"]),
        ("l'utilisateur L\u2019h\u00e9bergeur dell'utente", ["utilisateur", "hebergeur", "utent"]),
        ("qu'il jusqu'au n'est", ["il", "au", "est"]),
        ("can't it's o'clock Bob's", ["cant", "oclock", "bob"]),
        ("rock'n'roll O'Brien's we'll they've", ["rocknrol", "obrien", "o", "brien", "well", "theyv"]),
        (
            "Docker'\u0131 Redis'in API\u2019nin PR'lar\u0131ndan",
            ["dockeri", "docker", "redisin", "redi", "apinin", "api", "prlarindan", "pr"],
        ),
        (
            "getUser'in node.js'te CI'n",
            ["getuserin", "getus", "get", "user", "node.jste", "node.js", "node", "js", "cin", "ci"],
        ),
        ("東京都", ["東京", "京都"]),
        ("東", ["東"]),
        ("データ", ["デー", "ータ"]),
        ("\uff83\uff9e\uff70\uff80", ["デー", "ータ"]),
        ("사용자 인증", ["사용", "용자", "인증"]),
        ("使用Redis缓存", ["使用", "redi", "缓存"]),
        ("हिन्दी", ["हिन्दी"]),
        ("Привет", ["привет"]),
        ("&#39;", ["39"]),
        ("🎉 !!! ---", []),
    ],
)
def test_a_text_is_found_by_its_words(text: str, found: list[str]) -> None:
    expected = [w.stem(word) if word in {"auth", "initi"} else word for word in found]
    assert w.words(text) == expected


def test_what_is_asked_is_what_a_question_is_about() -> None:
    assert list(w.asked("What did we decide about the retry policy?")) == ["decid", "retri", "polici"]
    assert list(w.asked("How long does a lease last?")) == ["leas", "last"]
    assert list(w.asked("where is getUserById used")) == ["getuserbyid", "get", "user", "id"]


def test_a_question_of_nothing_but_asking_words_asks_for_those() -> None:
    assert list(w.asked("How do we use make?")) == ["how", "use", "make"]
    assert list(w.asked("is it the")) == []


def test_a_number_with_its_unit_is_asked_for_by_the_number() -> None:
    assert w.asked("30s, 3.8GB or 25MB") == {
        "30s": True, "30": False, "3.8gb": True, "3.8": False, "25mb": True, "25": False,
    }  # fmt: skip


def test_a_name_with_an_ending_is_asked_for_by_the_name() -> None:
    assert w.asked("Redis'in") == {"redisin": True, "redi": False}
    assert w.asked("tokens we don't") == {"token": False}


@pytest.mark.parametrize("text", ["What changed in May?", "may 2026", "14 May", "since last May", "the bill of MAY."])
def test_the_month_of_may_is_asked_for(text: str) -> None:
    assert "may" in w.asked(text)


@pytest.mark.parametrize(
    "text", ["how big may a pull request be", "may I delete this table", "what in this may fail now"]
)
def test_what_may_be_is_no_month(text: str) -> None:
    assert "may" not in w.asked(text)


def test_endings_of_japanese_count_only_where_something_has_them() -> None:
    assert w.asked("二重販売を防ぐ") == {
        "二重": False, "重販": False, "販売": False, "売を": True, "を防": True, "防ぐ": True,
    }  # fmt: skip


def test_characters_of_han_are_kept_one_by_one_and_no_others() -> None:
    assert w.signs("税金を払う、tax 데이터") == {"税", "金", "払"}
    assert w.signs("plain") == set()
    assert [word for word in ("税金", "を払", "데이", "ab", "税", "税金を") if w.is_pair(word)] == [
        "税金",
        "を払",
        "데이",
    ]


@pytest.mark.parametrize("text", ["On 3 Nov 2025", "on November 3rd, 2025", "on the 3rd of November 2025"])
def test_a_day_that_is_written_out_is_found_by_its_numbers(text: str) -> None:
    assert set(w.date_words("2025-11-03")) <= set(w.words(text))
    assert set(w.asked("2025-11-03")) <= set(w.words(text))


@pytest.mark.parametrize("text", ["in November 2025", "on 3 November", "3 marches 2025"])
def test_what_is_no_whole_day_has_no_numbers_of_one(text: str) -> None:
    assert not {"20251103", "202511"} & set(w.words(text))


def test_a_name_is_told_from_its_parts() -> None:
    assert w.asked("get_user config") == {"getus": True, "get": False, "user": False, "configur": False}


def test_no_part_of_a_question_is_a_query_language() -> None:
    assert list(w.asked('title:"a" AND NOT (redis OR x*) ^2 ~')) == [
        "titl", "not", "redi", "x", "2",
    ]  # fmt: skip


def test_a_day_is_asked_for_by_its_parts() -> None:
    assert w.date_words("2026-11-22T08:00:00.000Z") == ["20261122", "202611", "2026", "novemb"]
    assert set(w.words("What happened on 2026-11-22?")) & set(w.date_words("2026-11-22T08:00:00.000Z"))
    assert "novemb" in w.words("in November")
    assert w.words("at 2026-11-22T08:00:00.123Z") == w.date_words("2026-11-22")
    assert w.words("2026-13-22, a-2026-11-22") == ["20261322", "2026", "13", "22", "a20261122", "2026", "11", "22"]
    assert w.date_words("") == w.date_words("2026-13-01") == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("3 Nov 2025", {"20251103": True, "202511": True, "3": False, "nov": True, "novemb": False, "2025": False}),
        (
            "Nov. 3rd, 2025",
            {"20251103": True, "202511": True, "nov": True, "novemb": False, "3rd": True, "3": False, "2025": False},
        ),
        ("sept 2025", {"202509": True, "sept": True, "septemb": False, "2025": False}),
        ("the 9th of Dec", {"9th": True, "9": False, "dec": True, "decemb": False}),
        ("5 June", {"5": False, "june": False}),
        ("dec jan", {"dec": False, "jan": False}),
        ("2025-11-03", {"20251103": False, "202511": True, "2025": False, "novemb": False}),
        ("2025-11-03T10:15:00Z", {"20251103": True, "202511": True}),
    ],
)
def test_a_date_is_asked_as_records_have_it(text: str, words: dict[str, bool]) -> None:
    assert w.asked(text) == words


def test_the_lists_do_not_overlap() -> None:
    assert not EMPTY & ASKING


@given(st.text(max_size=200))
def test_any_text_has_words_of_bounded_length(text: str) -> None:
    found = w.words(text)
    assert all(0 < len(word) <= 2 * w.LONGEST and not word.isspace() for word in found)
    assert set(w.asked(text)) <= set(found)


@given(st.text(alphabet="abcXYZ019_-./#@'", max_size=60))
def test_case_of_a_plain_word_does_not_matter(text: str) -> None:
    assert w.words(text.lower()) == w.words(text.lower().upper().lower())


def test_hostile_texts_take_no_time() -> None:
    for text in ("a" * 99_999, "a." * 50_000, "_" * 99_999, "aB" * 50_000, "1." * 50_000, "'" * 99_999):
        assert len(w.words(text)) < 100_000


def test_what_words_are_is_part_of_the_format_of_the_index() -> None:
    """A change here shows that words changed: then raise FORMAT in knowledge/index.py and take the new digest."""
    from memento_git.knowledge.index import FORMAT

    text = (
        "getUserById GH-12 1.2.3 東京 café config chose froze behaviours utf-8 the running src/a/b.py don't "
        "2026-11-22 2026-11-23T08:15:00Z "
        "argon2 3.11.7 C++ sha256 IPv6 PostgreSQL E0308 organisation l'h\u00e9bergeur Redis'in 25MB 1.5s 2.0.0-rc1"
    )
    digest = hashlib.sha256(json.dumps(w.words(text)).encode()).hexdigest()[:12]
    assert (FORMAT, digest) == (11, "9e2cfe41a0bf")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("how do sessions reach Redis", {"redi"}),
        ("Sessions in redis", set()),
        ("Why? Because it leaks", set()),
        ("does NullPointer mean utf8 or a_b", {"nullpoint", "null", "pointer", "utf8", "utf", "ab", "b"}),
        ("error 110 of S3", {"110", "s3"}),
        ("see org.apache.RateLimit", {"ratelimit", "rate", "limit"}),
        ("jobs of 14 May and June 3rd, of Jul 04 or the 1st of March", set()),
        ("jobs of May and of 2026-07-03, of 2026-07-04T08:15:00.5Z and 2026-07-05T08:15+02:00", {"may", "20260703"}),
        ("the 14 jobs may fail", {"14"}),
        ("see src/pay_card.py", {"paycard", "pay", "card"}),
        ("a deadlock. DETAIL: the Process waits", set()),
        ("HOW MUCH RAM DOES UTF8 NEED", {"utf8", "utf"}),
        ("AWS RDS", {"aw", "rds"}),
        ("got java.sql.SQLDataException: bad sum\nCaused by: KeyError: 'Tax'", set()),
        ("what raises a KeyError", {"keyerror", "key", "error"}),
        ("", set()),
    ],
)
def test_a_name_is_known_by_how_it_is_written(text: str, names: set[str]) -> None:
    assert w.named(text) == names


def test_every_everyday_word_is_one_by_its_stem() -> None:
    assert [word for word in EVERYDAY if not w.is_everyday(w.stem(word))] == []
    assert not any(map(w.is_everyday, ("walrus", "kubernet", "", "a")))


def test_irregular_forms_share_the_stem_of_their_word() -> None:
    for forms in ("freeze froze frozen", "catch caught", "overwrite overwrote overwritten", "axis axes", "wake woken"):
        assert len({w.stem(form) for form in forms.split()}) == 1
    assert not set(IRREGULAR).intersection(IRREGULAR.values(), SHORT, EMPTY)


def test_words_that_are_said_for_one_another_lead_both_ways() -> None:
    for group in (line.split() for line in ALIKE):
        stems = {w.stem(word) for word in group}
        assert len(stems) > 1
        assert not stems & (EMPTY | ASKING)
        assert all(stems - {stem} <= w.alike(stem) for stem in stems)
    assert w.alike("walrus") == w.alike("") == frozenset()
