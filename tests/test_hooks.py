"""Hooks: beside those that are there, in every kind of checkout, taken away without a trace."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.work.actions import dispatches, hooks
from tests.play import git

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.play import Call, Play


@pytest.fixture
def path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a hook find the memento of these tests."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


def put(place: Path, text: str) -> str:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    place.chmod(0o755)
    return text


def states(play: Play) -> dict[str, tuple[str, bool]]:
    return {one.name: (one.state, one.chained) for one in hooks.listed(play.ledger.git)}


def test_hooks_are_installed_renewed_and_taken_away(play: Play, cli: Call) -> None:
    place = play.root / ".git" / "hooks"
    before = {one.name: one.read_bytes() for one in place.iterdir()}
    for _ in range(2):
        code, out, _ = cli("hook", "install", "-C", str(play.root), "--json")
        assert code == 0
        assert [(one["name"], one["state"]) for one in json.loads(out)["hooks"]] == [
            ("pre-commit", "installed"), ("post-merge", "installed"),
        ]  # fmt: skip
    assert (place / "pre-commit").stat().st_mode & stat.S_IXUSR
    assert "installed" in cli("hook", "-C", str(play.root))[1]
    assert cli("hook", "uninstall", "-C", str(play.root))[0] == 0
    assert {one.name: one.read_bytes() for one in place.iterdir()} == before
    assert states(play) == {"pre-commit": ("absent", False), "post-merge": ("absent", False)}


def test_a_hook_that_is_there_runs_first_decides_and_is_put_back(play: Play, path: None) -> None:
    theirs = play.root / ".git" / "hooks" / "pre-commit"
    text = put(theirs, "#!/bin/sh\necho ran >> .git/ran\ntest ! -e stop\n")
    hooks.install(play.ledger.git)
    assert states(play)["pre-commit"] == ("installed", True)

    (play.root / "app.py").write_text("answer = 43\n")
    git(play.root, "commit", "-qam", "code")
    assert (play.root / ".git" / "ran").read_text() == "ran\n"
    (play.root / "stop").touch()
    (play.root / "app.py").write_text("answer = 44\n")
    with pytest.raises(AssertionError):
        git(play.root, "commit", "-qam", "code")

    hooks.uninstall(play.ledger.git)
    assert theirs.read_text() == text
    assert states(play)["pre-commit"] == ("other", False)


@pytest.mark.parametrize("verb", [hooks.install, hooks.uninstall])
def test_an_installation_that_is_cut_short_leaves_the_users_hook_where_git_runs_it(
    play: Play, monkeypatch: pytest.MonkeyPatch, verb: Callable[..., Any]
) -> None:
    theirs = play.root / ".git" / "hooks" / "pre-commit"
    text = put(theirs, "#!/bin/sh\necho ran >> .git/ran\n")
    there = sorted(one.name for one in theirs.parent.iterdir())

    def cut_short(self: Path, target: Path) -> None:
        raise KeyboardInterrupt(f"{self} -> {target}")

    with monkeypatch.context() as cut:
        cut.setattr(Path, "replace", cut_short)
        with pytest.raises(KeyboardInterrupt):
            hooks.install(play.ledger.git)
    git(play.root, "commit", "-q", "--allow-empty", "-m", "theirs runs")
    assert (play.root / ".git" / "ran").read_text() == "ran\n"
    verb(play.ledger.git)
    assert theirs.read_text() == text or states(play)["pre-commit"] == ("installed", True)
    hooks.uninstall(play.ledger.git)
    assert theirs.read_text() == text
    assert sorted(one.name for one in theirs.parent.iterdir()) == there


def test_somebody_elses_hook_that_came_later_is_left_alone(play: Play) -> None:
    hooks.install(play.ledger.git)
    theirs = play.root / ".git" / "hooks" / "pre-commit"
    text = put(theirs, "#!/bin/sh\nexit 0\n")
    hooks.uninstall(play.ledger.git)
    assert theirs.read_text() == text


def test_a_hook_that_was_put_aside_is_never_overwritten(play: Play) -> None:
    place = play.root / ".git" / "hooks"
    first = put(place / "pre-commit", "#!/bin/sh\nexit 0\n")
    hooks.install(play.ledger.git)
    second = put(place / "pre-commit", "#!/bin/sh\nexit 1\n")
    with pytest.raises(hooks.HookTaken):
        hooks.install(play.ledger.git)
    assert (place / "pre-commit").read_text() == second
    assert (place / f"pre-commit{hooks.BEFORE}").read_text() == first


@pytest.mark.parametrize(
    "text",
    [
        '#!/bin/sh\ncase "$(basename "$0")" in pre-commit) exit 1;; esac\n',
        "#!/bin/bash\nexec tools/${BASH_SOURCE##*/}\n",
        '#!/bin/sh\n. "$(dirname "$0")/common.sh"\n',
        '#!/bin/sh\nfor one in "$0".d/*; do "$one" || exit; done\n',
        "#!/usr/bin/env ruby\nhook = File.basename($0)\n",
        "#!/usr/bin/env python3\nfrom pathlib import Path\nprint(Path(__file__).name)\n",
        "#!/usr/bin/env node\nconst name = process.argv[1]\n",
        "\x7fELF\udcff",
    ],
)  # fmt: skip
def test_a_hook_that_may_ask_for_its_name_stays_where_it_is(play: Play, cli: Call, text: str) -> None:
    theirs = play.root / ".git" / "hooks" / "pre-commit"
    data = text.encode(errors="surrogateescape")
    theirs.parent.mkdir(exist_ok=True)
    theirs.write_bytes(data)
    before = sorted(theirs.parent.iterdir())
    code, out, _ = cli("hook", "install", "-C", str(play.root), "--json")
    assert (code, json.loads(out)["error"]) == (1, "hook_unmoved")
    assert theirs.read_bytes() == data
    assert sorted(theirs.parent.iterdir()) == before


@pytest.mark.parametrize(
    "text",
    [
        '#!/bin/sh\n# as $0\ncd "$(dirname "$0")/../.." && exec make check\n',
        '#!/bin/sh\nhere=${0%/*}\n"$here/lint" "$@"\n',
        '#!/bin/bash\nHERE="$(cd "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)"\n',
        "#!/usr/bin/env python3\nimport os, sys\nhere = os.path.dirname(__file__)\nmain(sys.argv[1:])\n",
        "#!/usr/bin/env node\nrun(process.argv.slice(2))\n",
        '#!/bin/sh\ngit lfs post-merge "$@"\n',
    ],
)  # fmt: skip
def test_a_hook_that_asks_for_its_folder_alone_is_run_first(play: Play, text: str) -> None:
    put(play.root / ".git" / "hooks" / "pre-commit", text)
    hooks.install(play.ledger.git)
    assert states(play)["pre-commit"] == ("installed", True)


@pytest.mark.parametrize(("options", "within"), [("--hook-dir=$HERE --script-version=4", True), ("", False)])
def test_prek_runs_ours_where_it_runs_what_was_there_before(play: Play, options: str, *, within: bool) -> None:
    text = '#!/bin/sh\n# File generated by prek: https://github.com/j178/prek\nHERE="$(cd "$(dirname "$0")" && pwd)"\n'
    put(play.root / ".git" / "hooks" / "pre-commit", f"{text}exec prek hook-impl {options} --hook-type=pre-commit\n")
    assert hooks.install(play.ledger.git)[0] == ("pre-commit", "installed", not within, within)


def test_what_the_refusal_says_to_do_lets_the_other_hook_be_installed(play: Play, cli: Call, path: None) -> None:
    theirs = play.root / ".git" / "hooks" / "pre-commit"
    put(theirs, '#!/bin/sh\necho "$(basename "$0")" >> .git/ran\n')
    line = str(json.loads(cli("hook", "install", "-C", str(play.root), "--json")[1])["hint"]).partition(": ")[2]
    text = put(theirs, theirs.read_text().replace("\n", f"\n{line}\n", 1))
    assert cli("hook", "install", "-C", str(play.root))[0] == 0
    assert theirs.read_text() == text
    assert states(play) == {"pre-commit": ("other", False), "post-merge": ("installed", False)}
    play.planned()
    git(play.root, "rm", "-q", str(next((play.root / ".memento" / "runs").rglob("*.yaml"))))
    with pytest.raises(AssertionError, match="D002"):
        git(play.root, "commit", "-qm", "an event less")
    git(play.root, "reset", "-q", "--hard")
    (play.root / "app.py").write_text("answer = 43\n")
    git(play.root, "commit", "-qam", "code")
    assert (play.root / ".git" / "ran").read_text() == "pre-commit\n"


def test_a_hook_that_asks_for_its_name_and_was_put_aside_before_is_told(play: Play, cli: Call) -> None:
    place = play.root / ".git" / "hooks"
    hooks.install(play.ledger.git)
    text = put(place / f"pre-commit{hooks.BEFORE}", "#!/bin/sh\nexec tools/$(basename $0)\n")
    code, out, _ = cli("hook", "install", "-C", str(play.root), "--json")
    assert (code, "memento hook uninstall" in json.loads(out)["hint"]) == (1, True)
    assert cli("hook", "uninstall", "-C", str(play.root))[0] == 0
    assert (place / "pre-commit").read_text() == text


def test_a_hook_whose_link_leads_nowhere_is_kept(play: Play, cli: Call) -> None:
    place = play.root / ".git" / "hooks"
    target = play.root / "tools" / "lint"
    put(target, "#!/bin/sh\nexit 0\n")
    place.mkdir(exist_ok=True)
    (place / "pre-commit").symlink_to("../../tools/lint")
    hooks.install(play.ledger.git)
    target.unlink()
    hooks.uninstall(play.ledger.git)
    assert (place / "pre-commit").readlink() == Path("../../tools/lint")
    assert states(play)["pre-commit"] == ("other", False)
    code, out, _ = cli("hook", "install", "-C", str(play.root), "--json")
    assert (code, json.loads(out)["error"]) == (1, "hook_unmoved")
    assert (place / "pre-commit").readlink() == Path("../../tools/lint")


def test_a_pipe_in_the_place_of_a_hook_is_not_waited_for(play: Play) -> None:
    os.mkfifo(play.root / ".git" / "hooks" / "pre-commit")
    line = [sys.executable, "-m", "memento_git", "hook", "install", "-C", str(play.root)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, "is no file" in done.stderr) == (1, True), done.stderr


@pytest.mark.parametrize("verb", ["install", "uninstall"])
@pytest.mark.parametrize("form", ["{ours}make lint\n", "#!/bin/sh\nmake lint\n{ours}", "#!/bin/bash\nmake lint\n{cut}"])
def test_what_somebody_wrote_into_our_hook_is_not_lost(play: Play, cli: Call, verb: str, form: str) -> None:
    hooks.install(play.ledger.git)
    ours = play.root / ".git" / "hooks" / "pre-commit"
    known = ours.read_text()
    text = put(ours, form.format(ours=known, cut=known.partition(hooks.END)[0]))
    code, out, _ = cli("hook", verb, "-C", str(play.root), "--json")
    assert (code, json.loads(out)["error"]) == (1, "hook_changed")
    assert ours.read_text() == text


def test_gits_own_setting_for_hooks_is_respected(play: Play, tmp_path: Path) -> None:
    elsewhere = tmp_path / "shared hooks"
    git(play.root, "config", "core.hooksPath", str(elsewhere))
    hooks.install(play.ledger.git)
    assert sorted(one.name for one in elsewhere.iterdir()) == ["post-merge", "pre-commit"]
    assert not (play.root / ".git" / "hooks" / "pre-commit").exists()


def test_hooks_that_are_part_of_the_repository_are_not_touched(play: Play, cli: Call) -> None:
    git(play.root, "config", "core.hooksPath", ".husky")
    code, out, _ = cli("hook", "install", "-C", str(play.root), "--json")
    assert (code, json.loads(out)["error"]) == (1, "hooks_tracked")
    assert ".husky/pre-commit" in json.loads(out)["hint"]
    assert not (play.root / ".husky").exists()


@pytest.mark.parametrize(("elsewhere", "shown"), [(".husky/_", ".husky/_"), ("", "nothing")])
def test_our_hooks_are_taken_away_though_git_was_told_to_run_others(
    play: Play, cli: Call, elsewhere: str, shown: str
) -> None:
    place = play.root / ".git" / "hooks"
    before = {one.name: one.read_bytes() for one in place.iterdir()}
    hooks.install(play.ledger.git)
    git(play.root, "config", "core.hooksPath", elsewhere)
    code, out, _ = cli("hook", "install", "-C", str(play.root), "--json")
    assert (code, ".husky/pre-commit" in json.loads(out)["hint"]) == (1, bool(elsewhere))
    assert cli("hook", "uninstall", "-C", str(play.root))[0] == 0
    assert {one.name: one.read_bytes() for one in place.iterdir()} == before
    code, out, _ = cli("hook", "uninstall", "-C", str(play.root), "--json")
    refusal = json.loads(out)
    assert (code, refusal["error"], refusal["message"].partition("set to ")[2]) == (1, "hooks_absent", shown)
    assert "memento check --staged" in refusal["hint"]


def test_hooks_that_several_repositories_share_are_told_as_that(play: Play, tmp_path: Path, cli: Call) -> None:
    git(play.root, "config", "core.hooksPath", str(tmp_path / "shared"))
    assert "every repository" in cli("hook", "install", "-C", str(play.root))[2]
    git(play.root, "config", "--unset", "core.hooksPath")
    assert "every repository" not in cli("hook", "install", "-C", str(play.root))[2]


def test_a_hook_checks_a_work_tree_that_is_apart_from_its_git_directory(
    play: Play, run: str, tmp_path: Path, path: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    apart = tmp_path / "apart.git"
    (play.root / ".git").rename(apart)
    git(apart, "config", "core.worktree", str(play.root))
    hooks.install(play.beside(apart).ledger.git)
    monkeypatch.setenv("GIT_DIR", str(apart))
    (play.root / "app.py").write_text("answer = 43\n")
    git(play.root, "commit", "-qam", "code")
    event = next((play.root / ".memento" / "runs").rglob("*.yaml"))
    event.unlink()
    with pytest.raises(AssertionError, match="D002"):
        git(play.root, "commit", "-qam", "an event less")
    git(play.root, "checkout", "-q", str(event))
    (play.root / ".memento" / "README.md").write_text("This is our ledger.\n")
    git(play.root, "commit", "-qam", "a word on the ledger")


@pytest.mark.parametrize(("elsewhere", "told"), [("", "nothing"), (os.devnull, os.devnull)])
def test_hooks_that_git_would_not_run_are_not_said_to_be_installed(
    play: Play, cli: Call, elsewhere: str, told: str
) -> None:
    git(play.root, "config", "core.hooksPath", elsewhere)
    code, out, _ = cli("hook", "install", "-C", str(play.root), "--json")
    assert (code, json.loads(out)["error"]) == (1, "hooks_off")
    assert f"is set to {told}, so" in json.loads(out)["message"]
    assert not (play.root / ".git" / "hooks" / "pre-commit").exists()


def test_a_linked_worktree_has_the_hooks_of_its_clone(play: Play, tmp_path: Path) -> None:
    git(play.root, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "other")
    hooks.install(play.beside(tmp_path / "linked").ledger.git)
    assert states(play)["pre-commit"] == ("installed", False)


def test_a_work_tree_with_hooks_of_its_own_gives_up_those_and_no_others(play: Play, tmp_path: Path, cli: Call) -> None:
    hooks.install(play.ledger.git)
    git(play.root, "config", "extensions.worktreeConfig", "true")
    linked = tmp_path / "linked"
    git(play.root, "worktree", "add", "-q", str(linked), "-b", "other")
    uninstall = ("hook", "uninstall", "-C", str(linked))
    for elsewhere, code in ((str(tmp_path / "own"), 0), ("", 1)):
        git(linked, "config", "--worktree", "core.hooksPath", elsewhere)
        if not code:
            hooks.install(play.beside(linked).ledger.git)
        assert cli(*uninstall)[0] == code
        assert [*(tmp_path / "own").iterdir()] == []
        assert states(play)["pre-commit"] == ("installed", False)
    git(linked, "config", "--worktree", "--unset", "core.hooksPath")
    assert cli(*uninstall)[0] == 0
    assert states(play)["pre-commit"] == ("absent", False)


def test_a_commit_without_ledger_files_starts_nothing_but_git(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    hooks.install(play.ledger.git)
    (play.root / "app.py").write_text("answer = 43\n")
    git(play.root, "add", "app.py")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert "not on PATH" not in git(play.root, "commit", "-m", "code")


@pytest.mark.parametrize("name", ['.memento/a"b', ".Memento/a", ".memento"])
def test_a_name_of_the_ledger_is_looked_at_however_git_writes_it(play: Play, path: None, name: str) -> None:
    hooks.install(play.ledger.git)
    blob = git(play.root, "hash-object", "-w", "app.py")
    if name == ".memento":
        git(play.root, "rm", "-rq", "--cached", ".memento")
    git(play.root, "update-index", "--add", "--cacheinfo", f"100644,{blob},{name}")
    done = subprocess.run(["git", "commit", "-m", "odd"], cwd=play.root, capture_output=True, text=True, check=False)
    assert name.partition("/")[0] in done.stdout + done.stderr
    assert re.search(r"\b[A-Z]\d{3} (warning|error)\b", done.stdout + done.stderr)


def test_a_missing_memento_is_told_and_stops_nobody(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    hooks.install(play.ledger.git)
    path = play.root / ".memento" / "config.yaml"
    path.write_text(path.read_text() + "# a comment\n")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    git(play.root, "commit", "-qam", "policy")


def test_a_bare_repository_has_no_hooks_of_ours(play: Play, tmp_path: Path, cli: Call) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(play.root), "bare.git")
    code, out, _ = cli("hook", "install", "-C", str(tmp_path / "bare.git"), "--json")
    assert (code, json.loads(out)["ok"]) == (1, False)


def pulled(folder: Path) -> str:
    """Pull as a user would; return all that was said."""
    pull = ["git", "pull", "-q", "--no-rebase", "--no-edit"]
    done = subprocess.run(pull, cwd=folder, capture_output=True, check=True)
    return (done.stdout + done.stderr).decode()


def test_what_a_pull_brings_is_checked_also_where_it_merges_nothing(
    play: Play, run: str, tmp_path: Path, path: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        play.proven()
    git(tmp_path, "clone", "-q", str(play.root), "clone")
    clone = tmp_path / "clone"
    hooks.install(play.beside(clone).ledger.git)
    first, second = sorted((play.root / ".memento" / "runs").rglob("*-completed-*.yaml"))

    play.task("Sound")
    assert "nothing is wrong" in pulled(clone)

    first.unlink()
    play.commit_all("an event less")
    assert f"{first.name}: D002 error" in pulled(clone)

    git(play.root, "checkout", "-qb", "side")
    second.unlink()
    play.commit_all("another event less")
    git(play.root, "checkout", "-q", "main")
    git(play.root, "merge", "-q", "--no-ff", "--no-edit", "side")  # a merge that somebody else made
    told = pulled(clone)
    assert f"{second.name}: D002 error" in told
    assert first.name not in told

    play.commit("app.py", "answer = 43\n", "code")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert pulled(clone) == ""


@pytest.mark.parametrize("policy", ["  check: {errors: []}\n", "  check: {errors: [T001]}\n"])
def test_a_merge_is_told_as_one_before_git_has_written_down_that_it_is(play: Play, path: None, policy: str) -> None:
    with (play.root / ".memento" / "config.yaml").open("a") as config:
        config.write(policy)
    play.commit_all("policy, perhaps")
    task = play.planned_task()
    dispatch = play.dispatch(task)
    put(play.root / ".git" / "hooks" / "pre-merge-commit", "#!/bin/sh\nmemento check --staged >told 2>&1\n")
    git(play.root, "checkout", "-qb", "side")
    play.as_("Bob").do(dispatches.claim_dispatch, dispatch)
    git(play.root, "checkout", "-q", "main")
    git(play.root, "update-ref", "-d", f"refs/memento/claims/{task}")
    play.do(dispatches.claim_dispatch, dispatch)
    git(play.root, "merge", "--no-edit", "side")
    told = (play.root / "told").read_text()
    assert f"T001 warning {task} is contested" in told
    assert f"fix: once the merge is committed: memento settle {task}" in told


def test_a_merge_that_drops_its_other_side_is_told_before_git_has_written_down_that_it_is_one(
    play: Play, run: str, path: None
) -> None:
    put(play.root / ".git" / "hooks" / "pre-merge-commit", "#!/bin/sh\nmemento check --staged >told 2>&1\n")
    git(play.root, "checkout", "-qb", "side")
    task = play.task()
    git(play.root, "checkout", "-q", "main")
    git(play.root, "commit", "-q", "--allow-empty", "-m", "code")
    git(play.root, "merge", "-q", "-s", "ours", "--no-edit", "side", check=False)
    assert (play.root / ".git" / "MERGE_HEAD").exists()
    assert task in (play.root / "told").read_text()


def test_a_merge_of_ones_own_is_compared_with_both_its_sides(play: Play, run: str, tmp_path: Path, path: None) -> None:
    play.proven()
    git(tmp_path, "clone", "-q", str(play.root), "clone")
    clone = play.beside(tmp_path / "clone")
    hooks.install(clone.ledger.git)
    play.task("There")
    clone.task("Here")
    assert "nothing is wrong in the merge: each file of the ledger is as one of its sides has it" in pulled(clone.root)
    task = play.task("Both")
    dispatch = play.dispatch(task)
    pulled(clone.root)
    play.do(dispatches.claim_dispatch, dispatch)
    clone.as_("Bob").do(dispatches.claim_dispatch, dispatch)
    told = pulled(clone.root)
    assert f"T001 error {task} is contested" in told
    assert told.count(": T001 ") == 1
