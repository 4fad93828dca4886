"""Messages from outside become tasks: once for each delivery, as words alone, and nothing is handed out."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import http.client
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from docs.generator import rows
from memento_git.errors import MementoError
from memento_git.texts.secrets import SecretFound
from memento_git.work import refusals as no
from memento_git.work.actions import intakes, runs
from memento_git.work.dangers import guard
from memento_git.work.dispatch import intake
from tests.play import git

if TYPE_CHECKING:
    from tests.play import Call, Play

REPO: Final = {"full_name": "acme/shop"}
ISSUE: Final = {
    "number": 12,
    "title": "Cart is empty",
    "body": "After login.",
    "html_url": "https://github.com/acme/shop/issues/12",
    "user": {"login": "ada"},
}
PROJECT: Final = {"path_with_namespace": "acme/shop"}

MESSAGES: Final[dict[str, tuple[dict[str, Any], dict[str, Any]]]] = {
    "cron": (
        {"name": "Nightly audit", "schedule": "0 3 * * *", "at": "2026-11-22T03:00Z"},
        {
            "kind": "cron",
            "delivery": None,
            "title": "Nightly audit",
            "body": "Schedule 0 3 * * *, due 2026-11-22T03:00Z.",
        },
    ),
    "github issue": (
        {"action": "opened", "issue": ISSUE, "repository": REPO, "sender": {"login": "ada"}},
        {
            "kind": "webhook",
            "delivery": "github:acme/shop:issue:12:opened",
            "title": "acme/shop#12: Cart is empty",
            "body": "After login.",
            "actor": "ada",
            "url": ISSUE["html_url"],
        },
    ),
    "github comment": (
        {
            "action": "created",
            "issue": ISSUE,
            "repository": REPO,
            "comment": {
                "id": 77,
                "body": "Me too",
                "user": {"login": "bob"},
                "html_url": "https://github.com/acme/shop/issues/12#c77",
            },
        },
        {
            "kind": "webhook",
            "delivery": "github:acme/shop:comment:77:created",
            "title": "acme/shop#12: comment on Cart is empty",
            "body": "Me too",
            "actor": "bob",
        },
    ),
    "github pull request": (
        {"action": "opened", "pull_request": {**ISSUE, "number": 13}, "repository": REPO},
        {"delivery": "github:acme/shop:pull:13:opened", "title": "acme/shop#13: Cart is empty", "actor": "ada"},
    ),
    "github workflow": (
        {
            "action": "completed",
            "repository": REPO,
            "workflow_run": {
                "id": 5,
                "name": "CI",
                "conclusion": "failure",
                "head_sha": "abc",
                "head_branch": "main",
                "run_attempt": 2,
                "html_url": "https://github.com/acme/shop/actions/runs/5",
            },
        },
        {
            "delivery": "github:acme/shop:check:5:2:completed",
            "title": "acme/shop: CI failure",
            "body": "Commit abc, branch main.",
        },
    ),
    "github check": (
        {
            "action": "completed",
            "repository": REPO,
            "check_run": {"id": 6, "name": "lint", "conclusion": "failure", "head_sha": "abc"},
        },
        {
            "delivery": "github:acme/shop:check:6:1:completed",
            "title": "acme/shop: lint failure",
            "body": "Commit abc, branch unknown.",
        },
    ),
    "gitlab issue": (
        {
            "object_kind": "issue",
            "project": PROJECT,
            "user": {"username": "eve"},
            "object_attributes": {
                "id": 301,
                "iid": 23,
                "title": "Slow",
                "description": "Very.",
                "url": "https://gitlab.com/x",
                "action": "open",
            },
        },
        {"delivery": "gitlab:acme/shop:issue:301:open", "title": "acme/shop#23: Slow", "body": "Very.", "actor": "eve"},
    ),
    "gitlab note": (
        {
            "object_kind": "note",
            "project": PROJECT,
            "issue": {"title": "Slow"},
            "object_attributes": {"id": 9, "note": "Still."},
        },
        {"delivery": "gitlab:acme/shop:note:9:created", "title": "acme/shop: comment on Slow", "body": "Still."},
    ),
    "gitlab pipeline": (
        {
            "object_kind": "pipeline",
            "project": PROJECT,
            "object_attributes": {"id": 31, "status": "failed", "sha": "abc", "ref": "main"},
        },
        {
            "delivery": "gitlab:acme/shop:pipeline:31:failed",
            "title": "acme/shop: pipeline 31 failed",
            "body": "Commit abc, branch main.",
        },
    ),
    "generic": (
        {
            "id": "evt-1",
            "title": "Rotate keys",
            "body": "All.",
            "criteria": "keys are new",
            "url": "https://x.example/1",
        },
        {"kind": "webhook", "delivery": "webhook:evt-1", "title": "Rotate keys", "criteria": ("keys are new",)},
    ),
    "slack": (
        {
            "type": "event_callback",
            "event_id": "Ev01",
            "event": {"type": "message", "text": "Fix it\nplease", "user": "U1", "channel": "C1", "ts": "1700.1"},
        },
        {"kind": "chat", "delivery": "slack#Ev01", "title": "Fix it", "body": "Fix it\nplease", "actor": "U1"},
    ),
    "telegram": (
        {
            "update_id": 1,
            "message": {"message_id": 4, "text": "Fix it", "from": {"id": 8, "username": "ada"}, "chat": {"id": -100}},
        },
        {"kind": "chat", "delivery": "telegram:-100:4", "title": "Fix it", "actor": "ada"},
    ),
    "hermes": (
        {"text": "Fix it", "user": {"name": "ada"}, "message_id": "m-1", "platform": "hermes"},
        {"kind": "chat", "delivery": "chat:hermes:m-1", "title": "Fix it", "actor": "ada"},
    ),
}


def read(payload: object, sender: str = "auto", delivery: str = "") -> intake.Message:
    return intake.read(json.dumps(payload).encode(), sender, delivery)


@pytest.mark.parametrize("name", MESSAGES)
def test_each_kind_of_message_becomes_the_words_of_a_task(name: str) -> None:
    payload, wanted = MESSAGES[name]
    message = read(payload)
    found = {"title": message.title, "body": message.body, "criteria": message.criteria, **message.source}
    assert {key: found[key] for key, value in wanted.items() if value is not None} == {
        key: value for key, value in wanted.items() if value is not None
    }
    assert message.notes == ()
    assert read(payload) == message


@pytest.mark.parametrize("name", MESSAGES)
def test_each_kind_of_message_makes_one_task_however_often_it_is_delivered(play: Play, name: str) -> None:
    run = play.run()
    message = read(MESSAGES[name][0])
    other = play.task(f"Answer {message.source['delivery']}")
    first = play.do(intakes.take_message, message)
    head = git(play.root, "rev-parse", "HEAD")
    assert play.do(intakes.take_message, message) == first._replace(created=False)
    assert git(play.root, "rev-parse", "HEAD") == head
    state = play.state(run)
    assert {*state.ids("task")} == {other, first.task}, "who tells of a delivery is not the one that came of it"
    assert play.status(first.task) == "pending"
    assert state.dispatches(first.task) == {}
    assert state.prose(first.task).data["source"] == message.source


def test_the_same_delivery_in_another_run_is_another_task(play: Play) -> None:
    message = read(MESSAGES["generic"][0])
    one, other = (play.do(intakes.take_message, message, run=play.run(goal)) for goal in ("A", "B"))
    assert one.task != other.task


def test_a_named_delivery_goes_before_what_the_payload_says() -> None:
    payload = MESSAGES["github issue"][0]
    assert read(payload, delivery="72d3162e-cc78-11e3").source["delivery"] == "72d3162e-cc78-11e3"
    assert read({**payload, "delivery_id": 7}).source["delivery"] == "github#7"
    odd = read(payload, delivery="a b\x1b[31m" * 100).source["delivery"]
    assert odd.startswith("sha256:")


GITHUB = "github:acme/shop:issue:12:opened"


@pytest.mark.parametrize(
    ("theirs", "real"),
    [
        *(({"title": "A typo", key: GITHUB}, "github issue") for key in ("delivery", "delivery_id", "event_id", "id")),
        ({"text": "A typo", "channel": "telegram", "id": "-100:4"}, "telegram"),
        ({"text": "A typo", "event_id": "Ev01"}, "slack"),
        ({"text": "A typo", "id": "m-1", "channel": "x", "delivery": "chat:hermes:m-1"}, "hermes"),
        ({"title": "A typo", "delivery": "evt-1"}, "generic"),
    ],
)
def test_no_message_takes_the_place_of_anothers_delivery(play: Play, theirs: dict[str, Any], real: str) -> None:
    """Else whoever may send any would have that one answered with a task of theirs, which is done as they like."""
    run = play.run()
    messages = (read(theirs), read(MESSAGES[real][0]))
    assert [play.do(intakes.take_message, one, run=run).created for one in messages] == [True, True]


@pytest.mark.parametrize(
    "payload",
    [{"title": "No id"}, {"name": "nightly", "schedule": "daily"}, {"text": "hi"}, {"text": "hi", "id": ["a"]}],
)
def test_a_message_that_nothing_tells_from_the_next_needs_a_delivery(payload: dict[str, Any]) -> None:
    with pytest.raises(intake.DeliveryRequired) as refused:
        read(payload)
    assert refused.value.token == "delivery_required"
    assert read(payload, delivery="d1").source["delivery"] == "d1"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        b"null",
        b'"text"',
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b'{"zen": "ping", "hook_id": 1}',
        b'{"title": ["a"], "id": 1}',
        b'{"title": {"a": 1}, "id": 1}',
        b'{"title": true, "id": 1}',
        b'{"title": "  ", "id": 1}',
        b'{"title": "a", "id": 1, "body": []}',
        b'{"title": "a", "id": 1, "criteria": {"a": 1}}',
        b'{"title": "a", "id": 1, "criteria": [1]}',
        b'{"text": "", "id": 1}',
        b'{"issue": 4, "repository": {"full_name": "a/b"}}',
        b'{"title": "a", "id": ' + b"9" * 5000 + b"}",
    ],
)
def test_what_is_no_message_is_refused(data: bytes) -> None:
    with pytest.raises(intake.EventInvalid) as refused:
        intake.read(data)
    assert refused.value.token == "event_invalid"


def test_a_message_that_is_too_large_is_refused() -> None:
    with pytest.raises(intake.EventTooLarge) as refused:
        intake.read(b" " * (intake.MOST_BYTES + 1))
    assert refused.value.token == "event_too_large"


def test_a_named_sender_is_held_to_its_kind() -> None:
    with pytest.raises(intake.EventInvalid, match="no message of chat looks like this"):
        read(MESSAGES["cron"][0], "chat")
    both = {"text": "hello", "title": "Titled", "id": 1}
    assert read(both, "chat").title == "hello"
    assert read(both, "webhook").title == "Titled"


def test_control_characters_are_shown_by_number_and_what_is_too_long_is_cut_and_both_are_told() -> None:
    message = read({"id": 1, "title": "a\x1b[31m\u202eb\nc", "body": "x" * 40_000 + "\ud800"})
    assert message.title == "a<U+001B>[31m<U+202E>b c"
    assert message.body.endswith("x…")
    assert len(message.body) == intake.MOST_BODY
    assert [note.partition(" ")[0] for note in message.notes] == ["2", "1", "7241"]


def test_a_message_decides_words_only(play: Play) -> None:
    play.run()
    asked = {
        "verify": ["rm -rf /"],
        "command": "rm -rf /",
        "policy": {"proof": {}},
        "executor": "codex",
        "depends_on": ["x"],
        "role": "admin",
        "budget": 9,
    }
    taken = play.do(intakes.take_message, read({"id": 1, "title": "T", "criteria": ["a\nb", " "], **asked}))
    data = play.state(taken.task).prose(taken.task).data
    assert set(data) == {"id", "title", "at", "by", "criteria", "source"}
    assert data["criteria"] == ["a b"]
    assert play.ledger.warnings[0] == (
        "left out, as no message may decide it: verify, command, policy, executor, depends_on, budget, role"
    )


def test_a_link_is_kept_only_if_it_is_one_of_the_webs() -> None:
    assert "url" not in read({"id": 1, "title": "T", "url": "javascript:alert(1)"}).source
    assert "url" not in read({"id": 1, "title": "T", "url": "https://x/ y"}).source


def test_a_secret_in_a_message_is_refused(play: Play) -> None:
    play.run()
    with pytest.raises(SecretFound):
        play.do(intakes.take_message, read({"id": 1, "title": "T", "body": "token ghp_" + "a1B2" * 9}))


def test_a_destructive_command_in_a_message_is_flagged_and_refused_at_the_hand_off(play: Play, run: str) -> None:
    taken = play.do(intakes.take_message, read({"id": 1, "title": "T", "body": "Hi\n\n`rm -rf .`"}))
    assert [row["rule"] for row in taken.dangers] == ["delete_broad"]
    assert play.ledger.warnings == ["the message names a destructive command (delete_broad, body): rm -rf ."]
    with pytest.raises(guard.DestructiveCommand, match="line 3"):
        play.dispatch(taken.task)


def test_a_final_run_takes_no_message_but_knows_what_it_took(play: Play) -> None:
    run = play.run()
    message = read({"id": 1, "title": "T"})
    taken = play.do(intakes.take_message, message, run=run)
    play.do(runs.cancel_run, run, reason="over")
    assert play.do(intakes.take_message, message, run=run).task == taken.task
    with pytest.raises(no.RunFinal):
        play.do(intakes.take_message, read({"id": 2, "title": "T"}), run=run)


def test_two_deliveries_at_once_make_one_task(play: Play, repo: Path) -> None:
    run = play.run()
    (repo / "event.json").write_text('{"id": 1, "title": "T"}')
    argv = [sys.executable, "-m", "memento_git", "--json", "task", "add", "--from-event", "event.json"]
    both = [subprocess.Popen(argv, cwd=repo, stdout=subprocess.PIPE) for _ in range(4)]
    answers = [json.loads(one.communicate()[0]) for one in both]
    assert sorted(answer["created"] for answer in answers) == [False, False, False, True]
    assert len({answer["task"]["id"] for answer in answers}) == 1
    assert len(play.state(run).ids("task")) == 1


def test_at_the_command_line_a_message_is_a_file_or_standard_input(play: Play, repo: Path, cli: Call) -> None:
    play.run()
    file = repo / "event.json"
    file.write_text(json.dumps(MESSAGES["cron"][0]))
    call = (
        "-C",
        str(repo),
        "--json",
        "task",
        "add",
        "--from-event",
        str(file),
        "--kind",
        "audit",
        "--accept",
        "It is dry",
    )
    code, out, _ = cli(*call)
    first = json.loads(out)
    assert (code, first["created"], first["dispatched"], first["executor_invoked"]) == (0, True, False, False)
    assert set(first) == {"ok", *rows.ANSWERS["task add --from-event"].split()}
    assert (first["task"]["kind"], first["task"]["acceptance_criteria"]) == ("audit", ["It is dry"])
    code, out, _ = cli(*call)
    again = json.loads(out)
    assert (code, again["created"], again["task"]["id"]) == (0, False, first["task"]["id"])
    assert "was made from this delivery before" in cli(*(word for word in call if word != "--json"))[1]
    assert cli("-C", str(repo), "task", "add")[0] == 2
    file.write_text("nope")
    code, out, _ = cli(*call)
    assert (code, json.loads(out)["error"]) == (1, "event_invalid")


def recipe(start: str, end: str) -> str:
    page = (Path(__file__).parent.parent / "docs/recipes.md").read_text(encoding="utf-8")
    return page.partition(start)[2].partition(end)[0]


def test_the_crontab_line_of_the_recipes_makes_one_task_a_day(play: Play, repo: Path) -> None:
    run = play.run()
    line = recipe("0 3 * * * ", "\n").replace("\\%", "%").replace("cd ~/shop", f"cd '{repo}'")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for _ in range(2):
        subprocess.run(["sh", "-c", line], check=True, env={**os.environ, "PATH": path})
    (task,) = play.state(run).ids("task")
    assert play.state(run).prose(task).data["kind"] == "audit"


def test_the_webhook_receiver_of_the_recipes_takes_signed_deliveries_once(play: Play, repo: Path) -> None:
    run = play.run()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    receiver = subprocess.Popen(
        [sys.executable, "-c", recipe("```python\n", "```"), str(port)],
        cwd=repo,
        env={**os.environ, "PATH": path, "WEBHOOK_SECRET": "s"},
    )
    try:
        body = json.dumps(MESSAGES["github issue"][0]).encode()
        signature = "sha256=" + hmac.new(b"s", body, hashlib.sha256).hexdigest()
        codes = [post(port, body, signature), post(port, body, signature), post(port, body, "sha256=no")]
    finally:
        receiver.terminate()
        receiver.wait()
    assert codes == [200, 200, 403]
    (task,) = play.state(run).ids("task")
    assert play.state(run).prose(task).data["source"]["delivery"] == "d-1"


def post(port: int, body: bytes, signature: str) -> int:
    """Post to a receiver that may be about to listen; return the status."""
    for _ in range(100):
        line = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            line.request("POST", "/", body, {"X-Hub-Signature-256": signature, "X-GitHub-Delivery": "d-1"})
            return line.getresponse().status
        except ConnectionRefusedError:
            time.sleep(0.1)
        finally:
            line.close()
    raise AssertionError("nobody listens")


LEAF: Final = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
ANY: Final = st.recursive(
    LEAF,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "id",
                    "title",
                    "text",
                    "name",
                    "schedule",
                    "at",
                    "user",
                    "message",
                    "event",
                    "issue",
                    "comment",
                    "repository",
                    "full_name",
                    "object_kind",
                    "object_attributes",
                    "project",
                    "criteria",
                    "url",
                    "body",
                    "from",
                    "check_run",
                ]
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=20,
)


@settings(max_examples=300)
@given(ANY, st.sampled_from(["auto", "cron", "webhook", "chat"]), st.sampled_from(["", "d1"]))
def test_no_message_makes_the_reader_fall(payload: object, sender: str, delivery: str) -> None:
    with contextlib.suppress(intake.EventInvalid, intake.DeliveryRequired):
        message = intake.read(json.dumps(payload).encode(), sender, delivery)
        assert message.title
        assert message.source["delivery"]


@settings(max_examples=100)
@given(st.binary(max_size=300))
def test_no_bytes_make_the_reader_fall(data: bytes) -> None:
    with pytest.raises(MementoError):
        intake.read(data)
