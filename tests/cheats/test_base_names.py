"""A tag, branch or other ref under the name of the base, which whoever may push a branch may push as well."""

from __future__ import annotations

import contextlib
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.cheats.doors import run_of
from tests.cheats.forging import MAIN, WORK
from tests.play import git

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cheats.doors import Doors


@pytest.fixture
def doors(doors: Doors) -> Doors:
    """The branch completes a task on evidence that failed."""
    task = doors.play.task()
    doors.completed(task, doors.play.evidence(task, code=1))
    return doors


def test_a_tag_with_the_name_of_the_base_or_the_branch(doors: Doors) -> None:
    """Way: git takes a tag for what is meant; the branch would be compared with itself, or the base looked at."""

    @contextlib.contextmanager
    def tagged(_: str, root: Path) -> Iterator[None]:
        git(root, "tag", MAIN, WORK)
        git(root, "tag", WORK, f"refs/heads/{MAIN}")
        yield
        git(root, "tag", "-d", MAIN, WORK)

    assert "failed" in doors.caught("P001", within=tagged)


@pytest.mark.parametrize("base", ["main", "origin/main", "main^{}", "origin/main~0", "origin"])
def test_tags_of_every_name_of_the_base(doors: Doors, base: str) -> None:
    main = git(doors.root, "rev-parse", MAIN)
    git(doors.root, "update-ref", "refs/remotes/origin/main", main)
    git(doors.root, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    tags = ["main", base if base == "origin" else "origin/main"]
    for name in tags:
        git(doors.root, "tag", name, WORK)
    for options in ([], ["--at", WORK]):
        code, out, _ = doors.cli("check", "-C", str(doors.root), "--base", base, *options)
        assert (code, "P001 error" in out) == (5, True), out
    git(doors.root, "tag", "-d", *tags)
    doors.caught("P001")


@pytest.mark.parametrize("remote", [True, False])
def test_a_tag_with_the_name_of_the_base_that_ci_tells_of(
    doors: Doors, monkeypatch: pytest.MonkeyPatch, *, remote: bool
) -> None:
    doors.caught("P001")
    main = git(doors.root, "rev-parse", MAIN)
    for name in ("main", "origin/main", "refs/heads/main", "refs/remotes/origin/main"):
        git(doors.root, "tag", name, WORK)
    if remote:
        git(doors.root, "update-ref", "refs/remotes/origin/main", main)
        git(doors.root, "update-ref", "refs/heads/main", WORK)
    monkeypatch.setenv("GITHUB_BASE_REF", "main")
    code, found = doors.check()
    assert (code, "P001" in {row["code"] for row in found}) == (5, True)
    for ref in ("refs/heads/main", "refs/remotes/origin/main"):
        git(doors.root, "update-ref", "-d", ref)
    assert "refs/remotes/origin/main" in doors.denied("revision_not_found", "check")


def test_a_ref_below_refs_with_the_name_of_the_base(doors: Doors) -> None:
    """Way: git takes `refs/release/1.0` for `release/1.0`, before any tag or branch; a server takes a push of it."""

    @contextlib.contextmanager
    def beside(_: str, root: Path) -> Iterator[None]:
        git(root, "update-ref", f"refs/{MAIN}", WORK)
        git(root, "update-ref", f"refs/{WORK}", f"refs/heads/{MAIN}")
        yield
        git(root, "update-ref", "-d", f"refs/{MAIN}")
        git(root, "update-ref", "-d", f"refs/{WORK}")

    assert "failed" in doors.caught("P001", within=beside)


@pytest.mark.parametrize("base", ["release/1.0", "release/1.0~0", "heads/release/1.0", "origin/1.0", "v/1.0"])
def test_refs_of_every_name_of_the_base(doors: Doors, base: str) -> None:
    for ref in ("refs/heads/release/1.0", "refs/remotes/origin/1.0", "refs/tags/v/1.0"):
        git(doors.root, "update-ref", ref, MAIN)
    for ref in ("refs/release/1.0", "refs/origin/1.0", "refs/v/1.0"):
        git(doors.root, "update-ref", ref, WORK)
    for options in ([], ["--at", WORK]):
        code, out, _ = doors.cli("check", "-C", str(doors.root), "--base", base, *options)
        assert (code, "P001 error" in out) == (5, True), out
    doors.caught("P001")


def test_a_branch_that_has_the_beginning_of_a_full_name_is_refused(doors: Doors) -> None:
    """Way: a branch is called `heads/main`, where the base is named so."""
    doors.caught("P001")
    git(doors.root, "branch", "heads/main", WORK)
    assert "refs/heads/heads/main" in doors.denied("revision_ambiguous", "check", "--base", "heads/main")


@pytest.mark.parametrize("place", ["refs/tags", "refs", "refs/heads", "refs/remotes"])
def test_a_ref_with_the_whole_name_of_a_base_that_is_not_here(doors: Doors, place: str) -> None:
    """Way: git takes it, and does not warn; in text, no other ref would be looked at where nothing differs."""
    doors.caught("P001")
    base = "refs/remotes/origin/main"
    git(doors.root, "update-ref", f"{place}/{base}", WORK)
    for form in ("text", "github", "sarif"):
        code, out, err = doors.cli("check", "-C", str(doors.root), "--base", base, "--format", form)
        assert (code, "revision_not_found" in err) == (1, True), f"{form}: {out}{err}"
    git(doors.root, "update-ref", base, MAIN)
    assert doors.check("--base", base)[0] == 5


@pytest.mark.parametrize("remote", ["origin", "team/origin"])
@pytest.mark.parametrize("base", ["{}", "{}/HEAD", "refs/remotes/{}/HEAD", "{}~0"])
def test_a_branch_of_the_remote_that_is_called_head(doors: Doors, base: str, remote: str) -> None:
    """Way: a clone that did not come about by `git clone` fetches it to where else the remote's own branch is named."""
    doors.caught("P001")
    base, head, main = base.format(remote), f"refs/remotes/{remote}/HEAD", f"refs/remotes/{remote}/main"
    git(doors.root, "update-ref", head, WORK)
    for form in ("text", "json"):
        code, out, err = doors.cli("check", "-C", str(doors.root), "--base", base, "--format", form)
        assert (code, "revision_not_found" in err + out) == (1, True), f"{form}: {out}{err}"
    git(doors.root, "update-ref", main, MAIN)
    git(doors.root, "symbolic-ref", head, main)
    assert doors.check("--base", base)[0] == 5


def test_a_ref_that_is_called_like_the_head_of_a_remote_whose_branch_is_gone(doors: Doors) -> None:
    """Way: the remote renamed its branch, so its HEAD here leads nowhere, and git takes a tag of the same full name."""
    doors.caught("P001")
    base = "refs/remotes/origin/HEAD"
    git(doors.root, "symbolic-ref", base, "refs/remotes/origin/master")
    git(doors.root, "remote", "add", "origin", "https://example.invalid/")
    git(doors.root, "update-ref", f"refs/tags/{base}", WORK)
    for form in ("text", "json"):
        code, out, err = doors.cli("check", "-C", str(doors.root), "--base", base, "--format", form)
        assert (code, "revision_not_found" in err + out) == (1, True), f"{form}: {out}{err}"
        assert "git remote set-head origin --auto" in err + out


def test_a_branch_with_the_name_of_the_base_on_the_remote_is_refused(doors: Doors) -> None:
    """Way: a branch is called `origin/main`, and whoever checks it out has both."""
    doors.caught("P001")
    git(doors.root, "update-ref", "refs/remotes/origin/main", MAIN)
    git(doors.root, "branch", "origin/main", WORK)
    told = doors.denied("revision_ambiguous", "check", "--base", "origin/main")
    assert "refs/heads/origin/main" in told
    assert "refs/remotes/origin/main" in told
    assert doors.check("--base", "refs/remotes/origin/main")[0] == 5


@pytest.mark.parametrize("place", ["refs/tags", "refs/heads", "refs"])
def test_a_ref_that_looks_like_the_id_of_the_base_is_refused(doors: Doors, place: str) -> None:
    """Way: whoever pushes it decides what the base is; git takes the ref, and warns."""
    doors.caught("P001")
    short = git(doors.root, "rev-parse", MAIN)[:9]
    git(doors.root, "update-ref", f"{place}/{short}", WORK)
    assert f"{place}/{short}" in doors.denied("revision_ambiguous", "check", "--base", short)
    git(doors.root, "update-ref", f"{place}/{short}", MAIN)
    assert doors.check("--base", short)[0] == 5


def test_a_name_that_only_a_tag_has_is_the_tag(doors: Doors) -> None:
    """The honest way: what was released is compared with; a branch whose name looks like an id is a branch."""
    git(doors.root, "tag", "v1", MAIN)
    git(doors.root, "branch", "deadbeef", MAIN)
    for base in ("v1", "deadbeef", "refs/tags/v1", "v1^{}"):
        assert doors.check("--base", base)[0] == 5
    doors.caught("P001")


@pytest.mark.parametrize("name", ["a;touch${IFS}b", "it's", "a$(id)"])
def test_a_base_whose_name_a_shell_would_run(doors: Doors, name: str) -> None:
    """Way: who puts back what is gone with the command that is shown for that runs what the name says."""
    [task] = doors.play.state(run_of(doors)).ids("task")
    doors.landed()
    git(doors.root, "branch", name, MAIN)
    doors.remove(doors.last(task, "completed"))
    doors.caught("D002")
    (fix,) = [row["fix"] for row in doors.check("--base", name)[1] if row["code"] == "D002"]
    line = f"printf '%s\\n' {fix.partition(': ')[2]}"
    words = subprocess.check_output(["sh", "-c", line], cwd=doors.root, text=True)
    assert words.splitlines() == ["memento", "check", "--base", name, "--fix"]
