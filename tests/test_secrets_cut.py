"""Secrets in the words of a command, and at the cuts of what is kept: no part of them comes into the ledger."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.texts.secrets import SecretFound, cut_before, find_in_words, redact_parts, redact_start, redact_words
from memento_git.work.actions import clean_rerun, evidences, folders, verifying
from memento_git.work.brief import bundle
from memento_git.work.dispatch import intake
from memento_git.work.dispatch.packet import MOST_EXCERPT
from memento_git.work.running import capture, reports, tee
from tests.play import git

if TYPE_CHECKING:
    from pathlib import Path

    from tests.play import Call, Play

PASSWORD = "S3cret" + "Hunter22x"
TOKEN = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0" * 2
HALF = 32 * 1024
WORDS = {
    ("echo", "--password", PASSWORD): ["echo", "--password", "[redacted: Secret Keyword]"],
    ("curl", "-s", "-u", f"me:{PASSWORD}", "x"): ["curl", "-s", "-u", "me:[redacted: API Key]", "x"],
    ("curl", f"--user=me:{PASSWORD}", "x"): ["curl", "--user=me:[redacted: API Key]", "x"],
    ("tool", "--token", f"{PASSWORD} and more"): ["tool", "--token", "[redacted: Secret Keyword]"],
    ("tool", PASSWORD, "--token", PASSWORD): [
        "tool", "[redacted: Secret Keyword]", "--token", "[redacted: Secret Keyword]",
    ],
    ("tool", f"--token={TOKEN}", ""): ["tool", "--token=[redacted: GitHub Token]", ""],
    ("tool", "--password", "", "word9word"): ["tool", "--password", "", "word9word"],
    ("docker", "run", "-u", "1000:1000", "x"): ["docker", "run", "-u", "1000:1000", "x"],
    ("sh", "-c", f"tool --password {PASSWORD}; ls"): ["sh", "-c", "tool --password [redacted: Secret Keyword]; ls"],
}  # fmt: skip


def recorded(play: Play, argv: list[str], **options: Any) -> tuple[dict[str, Any], str]:
    """Record evidence of a command; return it, and all that was committed for it."""
    draft = evidences.witness(play.ledger, argv, quiet=True, **options)
    evidence = play.do(evidences.record_draft, draft)
    found = play.state(evidence).evidence_named(evidence)
    return found.data, git(play.root, "show", "HEAD")


@pytest.mark.parametrize("words", list(WORDS))
def test_a_command_is_redacted_with_all_its_words_in_view(words: tuple[str, ...]) -> None:
    told = redact_words(words)
    assert told == WORDS[words]
    assert bool(find_in_words(words)) == (told != list(words))
    assert not find_in_words(told)
    assert redact_words(told) == told


def test_a_secret_that_is_an_argument_of_its_own_is_not_committed_nor_what_repeats_it(play: Play) -> None:
    play.run()
    script = "import sys; print('logged in with', sys.argv[2])"
    data, committed = recorded(play, [sys.executable, "-c", script, "--password", PASSWORD])
    assert data["command"]["argv"][3:] == ["--password", "[redacted: Secret Keyword]"]
    assert data["command"]["stdout"]["redacted"] == {"Secret Keyword": 1}
    assert PASSWORD not in committed


def test_a_long_argument_is_redacted_before_it_is_cut(play: Play) -> None:
    play.run()
    _, committed = recorded(play, [sys.executable, "-c", "pass", f"{'x ' * 2040}{TOKEN}"])
    assert TOKEN[:12] not in committed


def test_check_and_doctor_see_a_secret_in_the_words_of_a_command(play: Play, cli: Call) -> None:
    play.run()
    recorded(play, [sys.executable, "-c", "pass", "--word", PASSWORD])
    play.task(commands=[f"deploy --word {PASSWORD}"])
    files = [path for path in play.root.glob(".memento/runs/**/*.*") if PASSWORD in path.read_text()]
    for path in files:
        path.write_text(path.read_text().replace("--word", "--password"))
    play.commit_all()
    code, out, _ = cli("-C", str(play.root), "--json", "check")
    found = {(one["code"], one["path"].rpartition("/")[2].partition("_")[0]) for one in json.loads(out)["findings"]}
    assert code
    assert len(files) == 2
    assert found == {("S001", "evidence"), ("S001", "task.md")}
    code, out, _ = cli("-C", str(play.root), "doctor")
    assert code
    assert "looks like a secret (Secret Keyword)" in out


def test_the_id_of_a_file_that_is_called_password_is_no_secret(play: Play, run: str, cli: Call, tmp_path: Path) -> None:
    dispatch = play.claimed(task := play.task())
    (play.root / "src").mkdir()
    for name in ("password", "src/passwd"):
        (play.root / name).write_text("data\n")
    git(play.root, "add", "src/passwd")
    for number, covers in enumerate([(), ("src/passwd",)]):
        draft = evidences.witness(play.ledger, ["true"], quiet=True, covers=covers)
        folders.write_folder(play.ledger, draft, tmp_path / f"e{number}", [task], "")
        evidence = play.do(folders.import_folder, tmp_path / f"e{number}")
        assert git(play.root, "grep", "-lE", "(src/)?passwo?r?d: [0-9a-f]{40}", "HEAD", "--", f"*{evidence}*")
    play.complete(dispatch, evidence)
    code, out, _ = cli("-C", str(play.root), "check", "--no-base")
    assert (code, "S001" in out) == (0, False)


def test_a_folder_whose_command_holds_a_secret_is_not_imported(play: Play, tmp_path: Path) -> None:
    play.run()
    draft = evidences.witness(play.ledger, [sys.executable, "-c", "pass", "--word", PASSWORD], quiet=True)
    folders.write_folder(play.ledger, draft, tmp_path / "e", [], "")
    told = tmp_path / "e" / "evidence.yaml"
    told.write_text(told.read_text().replace("--word", "--password"))
    with pytest.raises(SecretFound, match="the command in evidence"):
        play.do(folders.import_folder, tmp_path / "e")


def test_a_required_command_with_a_secret_is_known_without_it(play: Play) -> None:
    (play.root / ".memento/config.yaml").write_text(
        f"version: 1\npolicy:\n  verify:\n  - commands:\n    - run: [python3, -c, pass, --password, {PASSWORD}]\n"
    )
    play.commit_all("policy")
    task = play.planned_task()
    play.complete(play.claimed(task), play.evidence(task, kind="test"))
    found = verifying.verify(play.ledger, play.ledger.change, task, quiet=True)
    assert found.accepted, found.unmet
    assert play.is_proven(task)
    assert PASSWORD not in git(play.root, "grep", "-h", "-e", "--password", "HEAD", "--", ".memento/runs")


@pytest.mark.parametrize("room", [0, 5, 11, 20, 28])
def test_no_part_of_a_secret_at_a_cut_of_output_is_kept(play: Play, room: int) -> None:
    play.run()
    head = f"'x\\n' * {(HALF - room) // 2} + 'password={PASSWORD}\\n'"
    tail = f"'password={PASSWORD}\\n' + ('x\\n' * {HALF})[:{HALF - room}]"
    for script in (f"{head} + 'y\\n' * 200_000", f"'y\\n' * 200_000 + {tail}", f"{head} + 'y\\n' * 20_000 + {tail}"):
        data, committed = recorded(play, [sys.executable, "-c", f"print({script}, end='')"])
        stream = data["command"]["stdout"]
        assert stream["cut"] == stream["bytes"] - 2 * HALF
        assert not [size for size in range(5, len(PASSWORD)) if PASSWORD[:size] in committed.split("stdout.txt")[-1]]
        assert not [size for size in range(5, len(PASSWORD)) if PASSWORD[-size:] in committed.split("stdout.txt")[-1]]


def test_a_private_key_that_lies_over_a_cut_is_not_kept(play: Play) -> None:
    body = "\n".join(["MIIEpAIBAAKCAQEA7bq+Xv0eT1n2Zp3Qw4Rr5Ss6Tt7Uu8Vv9Ww0Xx1Yy2Zz3Aa4"] * 30)
    key = "-----BEGIN RSA PRI" + f"VATE KEY-----\n{body}\n-----END RSA PRI" + "VATE KEY-----\n"
    (play.root / "key.py").write_text(
        f"print('x\\n' * {HALF // 2 - 300} + '''{key}''' + 'y\\n' * 99_000 + '''{key}''' + 'z\\n' * {HALF // 2 - 300})"
    )
    play.commit_all()
    play.run()
    data, committed = recorded(play, [sys.executable, "key.py"])
    assert data["command"]["stdout"]["redacted"] == {"Private Key": 2}
    assert "MIIEpAIBAA" not in committed


def test_output_without_end_is_taken_in_little_memory(play: Play) -> None:
    taking = tee.Tee(sys.stdin.buffer, None, 2 * HALF)
    chunk = b"x" * tee.CHUNK
    for _ in range(2000):
        taking._take(chunk)
    stream = taking.result()
    assert (stream.size, stream.cut) == (2000 * len(chunk), 2000 * len(chunk) - 2 * HALF)
    assert taking.tail_size + len(taking.head) < 5 * tee.CHUNK
    told, files = capture.stream_record(stream, "stdout.txt", capture.Scrubber(play.root))
    assert told["cut"] == stream.cut
    assert len(files["stdout.txt"]) < 2 * HALF + 100


def test_parts_of_a_text_hold_a_note_for_a_secret_at_their_edge() -> None:
    text = f"one {TOKEN} two"
    note = "[redacted: GitHub Token]"
    assert redact_parts(text, [(0, 10), (12, len(text))])[0] == [f"one {note}", f"{note} two"]
    assert redact_parts(text, [(0, 4)]) == (["one "], {})
    assert redact_parts("in: hunter22x", [(0, 13)], known={"hunter22x": "X"}) == (["in: [redacted: X]"], {"X": 1})
    assert redact_start(text, 10) == (f"one {note}", {"GitHub Token": 1})
    assert cut_before(text, 10) == "one "
    assert cut_before(text, 48) == text[:48]
    assert cut_before(text, 100) == text
    assert redact_start("short", 10) == ("short", {})


def test_a_bundle_holds_no_part_of_a_secret_at_the_end_of_an_excerpt(play: Play, run: str) -> None:
    task = play.task(files=["app.py"])
    play.commit("app.py", "# note\n" * 565 + f"###### {TOKEN}\n" + "x = 1\n" * 500)
    row = bundle(play.ledger.view(), task)
    assert TOKEN[:8] not in json.dumps(row)
    assert row["excerpts"][0]["redacted"] == {"GitHub Token": 1}
    assert len(row["excerpts"][0]["text"]) < MOST_EXCERPT + 30


def test_names_of_failed_cases_are_redacted_before_they_are_cut() -> None:
    name = f"{'test_' * 57}{TOKEN}"
    data = f'<testsuite><testcase name="{name}"><failure/></testcase></testsuite>'.encode()
    (told,) = reports.read_report("junit.xml", data).failed
    assert TOKEN[:8] not in told
    assert len(told) <= reports.MAX_TEXT


def test_what_a_failed_setup_said_is_redacted_before_it_is_cut(play: Play) -> None:
    from memento_git.model.policy import Policy

    said = f"raise SystemExit('password={PASSWORD} ' + 'x ' * {(clean_rerun.MOST_SAID - 10) // 2})"
    policy = Policy(reproduce={**Policy().reproduce, "setup": [[sys.executable, "-c", said]]})
    with (
        clean_rerun.Rerunner(play.ledger, policy) as rerunner, pytest.raises(clean_rerun.SetupFailed) as refused,
    ):  # fmt: skip
        clean_rerun.set_up(policy, play.root, rerunner._group)
    assert PASSWORD[-6:] not in str(refused.value.facts["said"])


def test_a_message_from_elsewhere_is_not_cut_within_a_secret() -> None:
    title = "x" * (intake.MOST_TITLE - 20)
    told = intake.read(json.dumps({"id": "1", "title": f"{title} {TOKEN} more", "body": "b"}).encode())
    assert told.title == f"{title} …"
