"""Recall: what is found, what is not, and what each score is made of."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from memento_git.knowledge.corpus import Corpus
from memento_git.knowledge.deduplication import are_alike, said
from memento_git.knowledge.documents import can_be_found, documents_of
from memento_git.knowledge.index_entries import Document, Header, entry_of, packed, unpacked
from memento_git.knowledge.ranking import Near, rank
from memento_git.knowledge.recall import search, text_of
from memento_git.knowledge.typos import LOOKED_UP
from memento_git.work.actions import evidences
from tests.notes import Notes

if TYPE_CHECKING:
    from memento_git.knowledge.recall import Hits
    from tests.play import Play


@pytest.fixture
def notes(play: Play) -> Notes:
    return Notes(play.root, play.ledger)


def titles(hits: Hits) -> list[str]:
    return [hit.header.title for hit in hits.hits]


def corpus(*notes: tuple[str, str] | Header) -> Corpus:
    """Return a corpus of memory: title and text of each, or a header whose title is its text."""
    documents = [
        Document(note, note.title)
        if isinstance(note, Header)
        else Document(Header(f"{number:03}", "note", f"note_{number}", note[0]), note[1])
        for number, note in enumerate(notes)
    ]
    return Corpus(None, (), [entry_of(document) for document in documents])


def found(given: Corpus, question: str, **options: object) -> list[str]:
    return [one.header.title for one in rank(given, question, most=10, **options).found]  # type: ignore[arg-type]


STORES = corpus(
    ("Sessions", "We keep sessions in Redis because the database was slow."),
    ("Passwords", "Passwords are hashed with argon2id, never with bcrypt."),
    ("Deploys", "Deploys go through the staging cluster first."),
    ("Retries", "Calls through getUserById are retried three times, see #123 and src/api/client.py."),
    ("Encoding", "Files are read as utf-8 since 1.4.2."),
)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("where do sessions live", "Sessions"),
        ("which hash is used for a password?", "Passwords"),
        ("get_user_by_id", "Retries"),
        ("userById", "Retries"),
        ("issue 123", "Retries"),
        ("GH-123", "Retries"),
        ("client.py", "Retries"),
        ("what changed in v1.4.2", "Encoding"),
        ("UTF8 files", "Encoding"),
        ("how is it deployed", "Deploys"),
    ],
)
def test_a_question_finds_its_note(question: str, first: str) -> None:
    assert found(STORES, question)[0] == first


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("where do the sesions live", ["Sessions"]),
        ("where do sessiosn live", ["Sessions"]),
        ("passwords hashed with argon, or bcrpyt?", ["Passwords"]),
        ("the staging clsuter", ["Deploys"]),
        ("what is retreid three times", ["Retries"]),
        ("sections", []),  # another letter makes another word
        ("redsi", []),  # and of short ones each is a letter away from many
        ("essions", []),
    ],
)
def test_a_slip_of_the_hand_finds_what_was_meant(question: str, first: list[str]) -> None:
    assert found(STORES, question)[:1] == first


def test_of_a_pasted_log_the_first_unknown_words_alone_are_looked_up() -> None:
    strange = " ".join(f"{letter}ghijklm" for letter in "bcdefghijklmnopq"[:LOOKED_UP])
    assert rank(STORES, f"sesions {strange}", most=3).asked.meant == {"sesion": "session"}
    assert rank(STORES, f"{strange} sesions", most=3).asked.meant == {}
    fewer = strange.rsplit(maxsplit=1)[0]
    assert rank(STORES, f"redis was {fewer} sesions", most=3).asked.meant == {"sesion": "session"}


@pytest.mark.parametrize("question", ["calibrate the printer", "the marketing site"])
def test_a_word_with_another_ending_is_no_slip(question: str) -> None:
    assert found(corpus(("Invoices", "We print each invoice twice."), ("Tests", "A mark skips it.")), question) == []


def test_what_a_slip_is_read_as_is_told() -> None:
    told = rank(STORES, "sesions in Redis", most=3)
    assert (told.asked.unknown, dict(told.asked.meant)) == ((), {"sesion": "session"})
    assert ("sesion", "slip of session") in [(part.name, part.of) for part in told.found[0].parts]


def test_a_word_that_somebody_wrote_is_no_slip() -> None:
    given = corpus(
        ("Panics", "The panics of replay."), ("Picnics", "The picnic is in June."), ("Panic room", "A panick.")
    )
    assert found(given, "panick") == ["Panic room"]


def test_of_many_weak_answers_ten_are_shown() -> None:
    parcels = ((f"Shelf {at}", f"Parcels of depot {at} wait on a shelf.") for at in range(12))
    boats = ((f"Boat {at}", f"The crane lifts boat {at} at the harbour before noon.") for at in range(60))
    told = rank(corpus(*parcels, *boats), "which parcels wait for the harbour master", most=100)
    assert (len(told.found), told.weak) == (10, True)


@pytest.mark.parametrize(
    "question",
    ["kubernetes ingress", "what is the salary of the maintainers", "how is it", "", "???", "who won the world cup",
     "graphql federation of the checkout service", "recommendation model retrained on sessions",
     "compile shaders with a retry"],
)  # fmt: skip
def test_an_unknown_topic_finds_nothing(question: str) -> None:
    assert found(STORES, question) == []


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("digest of a passphrase", ["Passwords"]),  # a digest is a hash, a passphrase a password
        ("digest of a passphrase for zeppelins", ["Passwords"]),
        ("digest of a passphrase for zeppelins, walruses, marmalade, cathedrals and monsoons", []),
        ("digest of a passphrase for Zeppelins", []),
        ("the marmalade of the zeppelin", []),
    ],
)
def test_what_is_often_said_for_its_words_answers_weakly(question: str, expected: list[str]) -> None:
    told = rank(STORES, question, most=10)
    assert ([one.header.title for one in told.found], told.weak) == (expected, bool(expected))


OPERATIONS = corpus(
    ("Payouts", "In May 2026 the payout job was moved to Kubernetes."),
    ("Refunds", "In June 2026 the refund job was moved to Nomad."),
    ("Charges", "A client may cancel a charge twice without harm."),
    ("在庫", "キャッシュの有効期限は三十秒。在庫数が古いまま表示されると二重販売になる。"),
    ("State lock", "The lock table fills up: Error acquiring the state lock. Force-unlock after asking."),
    ("Consumer", "CommitFailedException after a slow batch: lower max.poll.records."),
    ("Keys", "Idempotency keys of the charge endpoint live 48 hours."),
)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("what changed in May", "Payouts"),
        ("May 2026", "Payouts"),
        ("what changed in June", "Refunds"),
        ("二重販売を防ぐにはどうすればよい", "在庫"),
        ("Error acquiring the state lock ID: 8f14e45f-1eea-467f-9b2a-1c7d", "State lock"),
        ("org.apache.kafka.clients.consumer.CommitFailedException", "Consumer"),
    ],
)
def test_a_month_an_ending_and_the_values_of_one_day_do_not_hide_an_answer(question: str, first: str) -> None:
    told = rank(OPERATIONS, question, most=10)
    assert ([one.header.title for one in told.found][:1], told.weak) == ([first], False)


@pytest.mark.parametrize(
    ("question", "plain", "named"),
    [
        ("does the staging cluster run on kubernetes nodes?", "firm", "weak"),
        ("sessions in the database of jenkins builds", "firm", "weak"),
        ("are calls retried by celery workers?", "weak", "nothing"),
        ("which sessions does kafka have", "weak", "nothing"),
        ("which database does jenkins keep", "firm", "firm"),  # it has half of what is asked for
    ],
)
def test_who_names_what_nobody_here_has_heard_of_is_not_answered_by_a_few_other_words(
    question: str, plain: str, named: str
) -> None:
    for text, expected in ((question, plain), (re.sub("[kjc](?=ube|enk|ele|afk)", _upper, question), named)):
        told = rank(STORES, text, most=10)
        assert ("weak" if told.weak else "firm" if told.found else "nothing") == expected, text


def _upper(found: re.Match[str]) -> str:
    return found[0].upper()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("exit code 137", "firm"),
        ("exit code 139", "weak"),
        ("exit code 8f14e45f", "weak"),
        ("exit code", "firm"),
        ("OOMKilled with exit code 139 since the limit of its memory", "firm"),  # a message that was pasted
    ],
)
def test_a_number_that_no_record_has_is_not_answered_firmly_with_another(question: str, expected: str) -> None:
    killed = ("Killed", "A pod that needs more memory than its limit ends OOMKilled with exit code 137.")
    told = rank(corpus(killed, ("Sessions", "We keep sessions in Redis.")), question, most=10)
    assert [one.header.title for one in told.found] == ["Killed"]
    assert ("weak" if told.weak else "firm") == expected


def test_the_day_of_a_month_is_no_number_that_is_missed() -> None:
    moved = Header("1", "note", "note_1", "The payout job was moved.", time="2026-05-14T10:00:00.000Z")
    for question, weak in (("payout job on 14 May", False), ("payout job May 14", False), ("payout 14 jobs", True)):
        told = rank(corpus(moved), question, most=10)
        assert (len(told.found), told.weak) == (1, weak), question


NUMBERS = corpus(
    ("Sleep", "Without the sleep a deployment gave 502s."),
    ("Proxy", "The proxy waits 30s, then answers 504."),
    ("Uploads", "Uploads above 25MB are cut; the slowest take 800ms."),
    ("Mirror", "The mirror is from the 1990s and holds 3.8 GB."),
)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("HTTP 502", "Sleep"), ("why 502", "Sleep"), ("502s", "Sleep"), ("30 seconds", "Proxy"), ("30s", "Proxy"),
        ("30ms", "Proxy"), ("25 MB upload", "Uploads"), ("25MB", "Uploads"), ("800", "Uploads"), ("1990", "Mirror"),
        ("3.8GB", "Mirror"),
    ],
)  # fmt: skip
def test_a_number_is_found_with_and_without_its_unit(question: str, first: str) -> None:
    assert found(NUMBERS, question) == [first]


WRITTEN = corpus(
    ("Déconnexion", "L'utilisateur est déconnecté après trente minutes."),
    ("Fuso", "Il fuso orario dell\u2019utente si legge dal profilo."),
    ("备份", "数据库备份每天凌晨两点执行、保留十四天。"),
    ("税", "消费税按地区计算、库存另算。"),
    ("在庫", "キャッシュの有効期限は三十秒。"),
    ("Prices", "Prices are in cents."),
)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("utilisateur", "Déconnexion"), ("l'utilisateur", "Déconnexion"), ("d'utilisateur déconnecté", "Déconnexion"),
        ("utente", "Fuso"), ("备份保留多少天", "备份"), ("备份保留几天呢", "备份"), ("库", "税"), ("存", "税"),
        ("备", "备份"),
    ],
)  # fmt: skip
def test_words_are_found_behind_an_article_and_within_a_run(question: str, first: str) -> None:
    assert first in found(WRITTEN, question)


@pytest.mark.parametrize(
    "question", ["天气预报", "量子计算机的价格", "备份的加密密钥", "端数の処理は有効ですか", "鍵", "d'eau"]
)
def test_neighbours_of_a_run_that_are_no_words_let_no_other_topic_in(question: str) -> None:
    assert found(WRITTEN, question) == []


def test_nothing_is_found_in_nothing() -> None:
    assert found(corpus(), "sessions") == []


def test_a_title_and_a_key_count_more_than_a_text() -> None:
    given = corpus(
        ("Other", "The theme is mentioned here."),
        Header("a", "note", "note_a", "I prefer dark mode in editors", key="user.theme"),
    )
    assert found(given, "what theme does the user like")[0] == "I prefer dark mode in editors"


def test_an_alias_is_found() -> None:
    assert found(corpus(Header("a", "note", "n", "Leader election", aliases=("raft",))), "raft") == ["Leader election"]


def test_a_month_and_a_day_are_found() -> None:
    given = corpus(
        Header("a", "note", "note_a", "Moved the servers", time="2026-10-03T08:00:00.000Z"),
        Header("b", "note", "note_b", "Moved the servers again", time="2026-11-04T08:00:00.000Z"),
    )
    assert found(given, "what was moved in October?")[0] == "Moved the servers"
    assert found(given, "servers 2026-11-04")[0] == "Moved the servers again"


@pytest.mark.parametrize("question", ["outage jun 5", "outage of 5 Jun"])
def test_a_short_month_is_found_as_a_text_and_as_a_record_has_it(question: str) -> None:
    time = "2026-06-05T08:00:00.000Z"
    headers = [Header(f"{at}", "note", f"note_{at}", f"Shelf {at}", time=time) for at in range(10, 30)]
    flags = Header("a", "note", "note_a", "Flags stay 5 minutes", time=time)
    down = Header("b", "note", "note_b", "Production was not to be reached for an hour on jun 5", time=time)
    assert found(corpus(flags, down, *headers), question)[0] == down.title
    assert found(corpus(flags, *headers), question)[0] == flags.title


def test_boosts_order_and_never_bring_in() -> None:
    plain = Header("a", "note", "note_a", "Cache of rows", importance=0.1)
    grave = Header("b", "note", "note_b", "Cache of runs", importance=1.0)
    other = Header("c", "note", "note_c", "Nothing of the kind", importance=1.0, files=("app.py",))
    given = corpus(plain, grave, other)
    assert found(given, "cache") == ["Cache of runs", "Cache of rows"]
    assert found(given, "cache", files=["app.py"]) == ["Cache of runs", "Cache of rows"]


def test_a_file_in_focus_comes_first() -> None:
    here = Header("a", "note", "note_a", "Cache of rows", files=("src/rows.py",))
    there = Header("b", "note", "note_b", "Cache of runs", files=("src/runs.py",))
    assert found(corpus(here, there), "cache", files=["src/runs.py"])[0] == "Cache of runs"
    assert found(corpus(here, there), "cache", files=["src/rows.py"])[0] == "Cache of rows"


def test_a_message_is_found_whatever_the_class_of_its_error() -> None:
    others = ((f"Shop {number}", f"Of the shop {number} the sales of the night.") for number in range(30))
    given = corpus(("Broken file", "The image of the disk was malformed after a night on a network share."), *others)
    message = "image of the disk is malformed"
    assert found(given, message) == ["Broken file"]
    assert found(given, f"sqlite3.DataError: {message}") == ["Broken file"]
    assert found(given, f"sqlite3.DataKind: {message}") == []


@pytest.mark.parametrize("why", ["why", "reason for", "what is the rationale of", "How come we have"])
def test_who_asks_why_gets_what_was_decided_before_what_was_done(why: str) -> None:
    given = corpus(
        Header("a", "task", "task_a", "Write by one thread"),
        Header("b", "note", "note_b", "Write by one thread, with a queue of rows", sort="decision"),
        Header("c", "note", "note_c", "Write by one thread: the trap of rows", sort="lesson"),
        Header("d", "evidence", "evidence_d", "Write by one thread: tests"),
        Header("e", "run", "run_e", "Write by one thread soon"),
    )
    asked = [one.header.kind for one in rank(given, f"{why} write by one thread", most=5).found]
    assert asked[:2] == ["note", "note"]
    assert found(given, f"{why} write by one thread")[0] == "Write by one thread, with a queue of rows"
    assert found(given, "write by one thread")[0] == "Write by one thread"


WHENS = ("when did the queue stall", "what day did the queue stall", "queue stalled in march",
         "queue stalled 3 March 2026", "queue stalled on 2026-03-03")  # fmt: skip


@pytest.mark.parametrize("when", WHENS)
def test_who_asks_when_gets_what_happened_before_what_is_known(when: str) -> None:
    given = corpus(
        Header("a", "note", "note_a", "The queue stalled", sort="fact"),
        Header("b", "note", "note_b", "The queue stalled: night shift", sort="event"),
    )
    assert found(given, when)[0] == "The queue stalled: night shift"
    assert found(given, "the queue stalled")[0] == "The queue stalled"


def test_boosts_count_for_what_is_found_by_its_meaning_too() -> None:
    given = corpus(
        Header("a", "note", "note_a", "Cache of rows"), Header("b", "note", "note_b", "Cache of runs", importance=0.9)
    )
    near = Near({"a": 0.6, "b": 0.6}, {"a": "note_a", "b": "note_b"}, far=0.0, near=0.5)
    best = rank(given, "cache", most=5, near=near).found[0]
    assert best.header.id == "note_b"
    boost = next(part.value for part in best.parts if part.of == "boost")
    assert boost == pytest.approx(0.08 * sum(part.value for part in best.parts if part.of != "boost"))


@pytest.mark.parametrize("question", ["#418", "pool of urllib3"])
def test_who_asks_by_a_name_gets_what_has_it_before_what_is_only_near(question: str) -> None:
    given = corpus(
        Header("a", "note", "note_a", "The pool of urllib3 is pinned, see #418"),
        Header("b", "note", "note_b", "What the trouble of spring came to"),
    )
    near = Near({"a": 0.1, "b": 0.4}, {"a": "note_a", "b": "note_b"}, far=0.1, near=0.5)
    assert [one.header.id for one in rank(given, question, most=5, near=near).found] == ["note_a", "note_b"]


def test_the_parts_make_up_the_score() -> None:
    given = corpus(
        Header(
            "a", "note", "note_a", "Cache of rows", importance=0.9, files=("a.py",), links=(("relates_to", "note_b"),)
        ),
        Header("b", "note", "note_b", "Eviction is by age"),
    )
    best = rank(given, "cache eviction", most=5, files=["a.py"]).found[0]
    assert {part.name for part in best.parts} == {"cach", "evict", "importance", "same file"}
    assert next(part.of for part in best.parts if part.name == "evict") == "note_b"
    assert best.score == pytest.approx(sum(part.value for part in best.parts))


def test_a_linked_note_helps_and_a_contradicting_one_does_not() -> None:
    linked = corpus(
        Header("a", "note", "note_a", "Cache of rows"),
        Header("b", "note", "note_b", "Cache of runs", links=(("relates_to", "note_c"),)),
        Header("c", "note", "note_c", "Eviction by age"),
    )
    assert found(linked, "cache eviction") == ["Eviction by age", "Cache of runs", "Cache of rows"]
    against = corpus(
        Header("b", "note", "note_b", "Cache of runs", links=(("contradicts", "note_c"),)),
        Header("c", "note", "note_c", "Eviction by age"),
    )
    assert [one.words for one in rank(against, "cache eviction", most=5).found] == [("cach",), ("evict",)]


def test_a_link_that_was_made_later_counts_until_it_is_cut() -> None:
    one, other = Header("a", "note", "note_a", "Cache of rows"), Header("b", "note", "note_b", "Eviction by age")
    link = Header("x", "link", "note_a", "", links=(("relates_to", "note_b"),))
    cut = Header("y", "link", "note_a", "", links=(("unlinked", "note_b"),))
    words = [set(item.words) for item in rank(corpus(one, other, link), "cache eviction", most=5).found]
    assert words == [{"cach", "evict"}] * 2
    words = [set(item.words) for item in rank(corpus(one, other, link, cut), "cache eviction", most=5).found]
    assert sorted(map(sorted, words)) == [["cach"], ["evict"]]


def test_the_next_note_of_a_thread_is_part_of_what_one_says() -> None:
    thread = [
        Header(f"{number}", "note", f"note_{number}", title, thread="move", time=f"2026-11-0{number}T00:00:00.000Z")
        for number, title in enumerate(["Why the lease expires", "It was the clock", "Lunch"], 1)
    ]
    assert found(corpus(*thread), "why did the lease expire") == ["Why the lease expires", "It was the clock"]


def test_what_is_not_kept_is_not_found() -> None:
    assert found(STORES, "sessions passwords", keep=lambda header: header.title != "Sessions") == ["Passwords"]


def alike(one: str, other: str) -> bool:
    return are_alike(said(Header("a", "note", "note_a", ""), one), said(Header("b", "note", "note_b", ""), other))


def test_what_says_the_same_is_alike() -> None:
    text = "Calls to the payment service are retried three times with a pause in between"
    assert alike(text, text)
    assert alike(text, "  calls to the payment service are retried\nthree times, (with a pause) in between.")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The database is MySQL", "The database is not MySQL, it is Postgres"),
        ("The database is MySQL", "The database is not MySQL"),
        ("The service listens on port 8080 behind the proxy", "The service listens on port 8081 behind the proxy"),
        ("Deploy the service from the main branch each night", "Deploy the service from the release branch each night"),
        ("Never deploy the service on a Friday after lunch", "Deploy the service on a Friday after lunch"),
        ("Use tabs", "Use spaces"),
        ("The shop depends on the ledger", "The ledger depends on the shop"),
        ("Migrate from version 3 to version 2", "Migrate from version 2 to version 3"),
        ("Backups of the orders database run at night", "Backups of the staging orders database run at night"),
        ("Calls to the service are retried", "Calls to services are retried"),
        ("The limit is 1.5 MB", "The limit is 15 MB"),
        ("The area is 10\u00b2", "The area is 102"),
        ("Keep a below b: a < b", "Keep a below b: a > b"),
        ("Do we use Redis?", "Do we use Redis"),
        ("Read .env at start", "Read env at start"),
    ],
)
def test_what_might_contradict_is_never_alike(one: str, other: str) -> None:
    assert not alike(one, other)
    assert not alike(other, one)


def test_what_is_called_otherwise_is_not_alike() -> None:
    text = "See the runbook."
    mail, shop = (said(Header(name, "note", f"note_{name}", name), text) for name in ("mail", "shop"))
    assert not are_alike(mail, shop)
    assert are_alike(mail, mail)


def test_a_successor_and_another_kind_are_not_alike() -> None:
    text = "Calls to the payment service are retried three times"
    old, new = Header("a", "note", "note_a", ""), Header("b", "note", "note_b", "", links=(("supersedes", "note_a"),))
    assert not are_alike(said(old, text), said(new, text))
    assert not are_alike(said(old, text), said(Header("c", "task", "task_c", ""), text))


def test_a_header_is_read_back_as_it_was() -> None:
    header = Header(
        "p", "note", "n", "t", tags=("a", "b"), links=(("rel", "x"), ("rel", "y")), files=("f",), importance=0.3
    )
    assert unpacked(packed(header)) == header


@pytest.mark.parametrize(
    ("path", "is_found"),
    [
        (".memento/knowledge/decisions/a/note_abcdefabcdef.md", True),
        (".memento/knowledge/decisions/a/note_abcdefabcdef/20261122T000000000Z-linked-abcdefabcdef.yaml", True),
        (".memento/knowledge/decisions/a/note_abcdefabcdef/20261122T000000000Z-parked-abcdefabcdef.yaml", False),
        (".memento/skills/pdf/SKILL.md", True),
        (".memento/skills/pdf/reference.md", False),
        (".memento/skills/pdf/parts/pdf/SKILL.md", False),
        (".memento/config.yaml", False),
        (".memento/runs/run_abcdefabcdef/run.md", True),
        (".memento/runs/run_abcdefabcdef/plans/plan_abcdefabcdef/plan.md", True),
        (".memento/runs/run_abcdefabcdef/evidence/a/evidence_abcdefabcdef.yaml", True),
        (".memento/runs/run_abcdefabcdef/20261122T000000000Z-paused-abcdefabcdef.yaml", True),
        (".memento/runs/run_abcdefabcdef/20261122T000000000Z-resumed-abcdefabcdef.yaml", False),
        ("README.md", False),
    ],
)
def test_only_what_has_a_text_is_looked_at(path: str, is_found: bool) -> None:
    assert can_be_found(path) is is_found


NOTE_PATH = ".memento/knowledge/decisions/a/note_abcdefabcdef.md"


@pytest.mark.parametrize(
    "data",
    [b"", b"\xff\xfe\x00", b"---\n", b"no front matter, but redis", b"---\n[\n---\nredis\n", b"---\n- a\n---\nredis\n",
     b"---\nid: [1]\ntags: {a: b}\nlinks: x\nabout: [[]]\nimportance: nan\nat: soon\n---\nredis\n",
     b"a" * 2_000_000],
    ids=range(8),
)  # fmt: skip
def test_a_broken_note_is_found_by_what_can_be_read_of_it(data: bytes) -> None:
    documents = documents_of(NOTE_PATH, data)
    assert all("redis" in entry_of(one).weights or entry_of(one).weights for one in documents if b"redis" in data)
    assert [one.header.id for one in documents] in ([], ["note_abcdefabcdef"])


def test_all_kinds_of_the_ledger_are_found(play: Play, notes: Notes) -> None:
    play.planned("Tame the walrus")
    task = play.task("Feed the narwhal", criteria=["the narwhal is fat"])
    play.complete(play.claimed(task), play.evidence(task))
    notes.add("1", "Whales", "Whales are mammals.")
    notes.file(".memento/skills/octopus/SKILL.md", "---\nname: octopus\ndescription: Handles octopuses.\n---\nSteps.\n")
    notes.commit()

    def kinds(question: str) -> set[str]:
        return {hit.header.kind for hit in search(play.ledger, [question]).hits}

    assert kinds("walrus") == {"run"}
    assert kinds("narwhals") == {"task", "evidence"}  # the evidence is for that task
    assert kinds("whale") == {"note"}
    assert kinds("octopus") == {"skill"}
    assert "evidence" in kinds("echo checked")
    assert {"run", "plan"} & kinds("Do it, show it")


def test_each_record_is_the_first_to_be_found_by_its_id(play: Play, notes: Notes) -> None:
    run = play.planned("Tame the walrus")
    task = play.task("Feed the narwhal")
    play.complete(play.claimed(task), evidence := play.evidence(task))
    notes.add("1", "Whales", "Whales are mammals.")
    notes.commit()
    for one in (run, task, evidence, *play.state(run).ids("plan"), "note_000000000001"):
        for asked_for in (one, f"what of {one}", one.partition("_")[2]):
            assert [hit.header.id for hit in search(play.ledger, [asked_for]).hits[:1]] == [one], asked_for


def test_evidence_is_found_by_the_case_that_failed(play: Play) -> None:
    case = '<testcase classname="tests.test_users" name="test_login"><failure/></testcase>'
    (play.root / "write.sh").write_text(
        f"printf '%s' '<testsuite tests=\"1\" failures=\"1\">{case}</testsuite>' >out.xml\n"
    )
    play.planned()
    argv = ["sh", "write.sh"]
    draft = evidences.witness(play.ledger, argv, kind="test", reports=["out.xml"], quiet=True)
    found = play.do(evidences.record_draft, draft)
    for question in ("test_login", "login", "test_users::test_login"):
        assert [hit.header.id for hit in search(play.ledger, [question]).hits] == [found], question


def test_several_questions_are_answered_together(notes: Notes) -> None:
    notes.add("1", "Redis", "Sessions are in Redis.")
    notes.add("2", "Argon", "Passwords are hashed with argon2.")
    notes.commit()
    hits = search(notes.ledger, ["sessions", "passwords", "kubernetes"])
    assert {(hit.header.title, hit.query) for hit in hits.hits} == {("Redis", 0), ("Argon", 1)}
    assert hits.asked[2].unknown == ("kubernet",)


def test_what_is_alike_is_told_with_its_twin_and_counted(notes: Notes) -> None:
    for number in "1234":
        notes.add(number, "Retry policy", "Calls to the payment service are retried three times.")
    notes.add("5", "Retry policy", "Calls to the payment service are never retried.")
    notes.commit()
    hits = search(notes.ledger, ["payment service retries"])
    assert [len(hit.alike) for hit in hits.hits] in ([3, 0], [0, 3])
    assert hits.more == 0
    assert search(notes.ledger, ["payment service retries"], limit=1).more in (1, 4)


def test_what_was_left_out_is_counted(notes: Notes) -> None:
    for number in range(10, 30):
        notes.add(str(number), f"Lease {number}", f"The lease is renewed by worker {number}.")
    notes.commit()
    hits = search(notes.ledger, ["lease"], limit=5)
    assert (len(hits.hits), hits.more) == (5, 15)


def test_the_text_of_a_hit_can_be_read(notes: Notes) -> None:
    notes.add("1", "Redis", "Sessions are in Redis.")
    notes.commit()
    view = notes.ledger.view()
    assert text_of(view, search(view, ["sessions"]).hits[0].header) == "Sessions are in Redis."


def test_a_crowd_that_says_the_same_hides_nothing(notes: Notes) -> None:
    for number in range(100, 180):
        notes.add(str(number), "Lease", "The lease is renewed.")
    notes.add("1", "Walrus", "The walrus holds no lease, and much else is said of it here and there.")
    notes.commit()
    hits = search(notes.ledger, ["lease"], limit=5)
    assert [(hit.header.title, len(hit.alike)) for hit in hits.hits] == [("Lease", 79), ("Walrus", 0)]
    assert hits.more == 0
