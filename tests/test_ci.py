"""The action, the GitLab template and the server hook: their shape, and their steps as bash runs them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
import yaml

from memento_git.review.catalogue import CATALOGUE
from memento_git.review.diff_markdown import markdown
from memento_git.work.actions.comparing import compare
from memento_git.work.comments import MARK
from tests.play import git
from tests.served import played
from tests.test_comments import TOKEN, Forge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.play import Play

ROOT: Final = Path(__file__).parent.parent
ACTION: Final = yaml.safe_load((ROOT / "action.yml").read_text())
GITLAB: Final = yaml.safe_load((ROOT / "docs" / "ci" / "gitlab.yml").read_text())
STEPS: Final[dict[str, Any]] = {step["id"]: step for step in ACTION["runs"]["steps"] if "id" in step}
PAGE: Final = (ROOT / "docs" / "ci.md").read_text()


@pytest.fixture
def forge() -> Iterator[Forge]:
    with played(Forge()) as server:
        yield server


class Job:
    """A checkout, the runner's files, and steps that run with what they declare and no more."""

    def __init__(self, play: Play, place: Path) -> None:
        self.play = play
        self.temp = place / "runner"
        (self.temp / "memento").mkdir(parents=True)
        (self.temp / "memento" / "bin").symlink_to(Path(sys.executable).parent)
        self.said = ""

    def step(self, name: str, **env: str) -> dict[str, str]:
        """Run a step of the action as the runner would; return its outputs."""
        assert set(env) <= set(STEPS[name].get("env", ()))
        return self.bash(STEPS[name]["run"], dict.fromkeys(STEPS[name].get("env", ()), "") | env)

    def bash(self, script: str, env: dict[str, str]) -> dict[str, str]:
        out = self.temp / "output"
        out.write_text("")
        held = {
            **os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "NO_PROXY": "127.0.0.1",
            "RUNNER_TEMP": str(self.temp), "GITHUB_OUTPUT": str(out), "GITHUB_STEP_SUMMARY": str(self.temp / "summary"),
        }  # fmt: skip
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            cwd=self.play.root, env={**held, **env}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        self.said = done.stdout + done.stderr
        self.code = done.returncode
        return dict(line.split("=", 1) for line in out.read_text().splitlines())


@pytest.fixture
def job(play: Play, tmp_path: Path) -> Job:
    return Job(play, tmp_path)


def requested(play: Play) -> tuple[str, str]:
    """Merge a branch with one proven task into main as a hosting service does; return the target and the task."""
    play.planned()
    git(play.root, "checkout", "-qb", "feature")
    task = play.proven("On the branch")
    git(play.root, "checkout", "-q", "main")
    target = play.commit("other.py", "x = 1\n", "meanwhile")
    git(play.root, "checkout", "-q", "--detach")
    git(play.root, "merge", "-q", "--no-edit", "--no-ff", "feature")
    return target, task


# Shape.


def test_the_action_has_the_shape_that_a_runner_wants() -> None:
    assert set(ACTION) == {"name", "description", "branding", "inputs", "outputs", "runs"}
    assert ACTION["runs"]["using"] == "composite"
    for step in ACTION["runs"]["steps"]:
        assert ("uses" in step) != ("run" in step)
        assert step.get("shell", "bash") == "bash"
        assert ("shell" in step) == ("run" in step)
        assert set(step) <= {"id", "if", "uses", "with", "run", "shell", "env", "continue-on-error"}
        assert re.fullmatch(r"[\w/-]+@v\d+", step.get("uses", "a/b@v1"))
    for name, given in ACTION["inputs"].items():
        assert set(given) == {"description", "default"}
        assert isinstance(given["default"], str), name


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ("github-actions", (ROOT / "action.yml").read_text()),
        ("gitlab-ci", (ROOT / "docs" / "ci" / "gitlab.yml").read_text()),
        ("github-workflows", "".join(re.findall(r"```yaml\n((?!# lefthook).*?)```", PAGE, re.DOTALL))),
    ],
)
def test_the_files_fit_the_schemas_of_the_services(tmp_path: Path, schema: str, text: str) -> None:
    place = tmp_path / "given.yml"
    place.write_text(text)
    program = Path(sys.executable).parent / "check-jsonschema"
    done = subprocess.run(
        [program, "--builtin-schema", f"vendor.{schema}", str(place)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_expression_is_put_into_a_script_and_every_variable_is_declared() -> None:
    runner = {"RUNNER_TEMP", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"}
    for step in STEPS.values():
        script = step.get("run", "")
        assert "${{" not in script
        named = set(re.findall(r"\$\{?([A-Z_]{2,})", script))
        assert named <= runner | set(step.get("env", ()))
        assert set(step.get("env", ())) <= named | {"GITHUB_TOKEN"}


def test_every_output_and_input_that_the_action_names_is_there() -> None:
    text = (ROOT / "action.yml").read_text()
    written = {
        (name, output)
        for name, step in STEPS.items() for output in re.findall(r'echo "([a-z]+)=', step.get("run", ""))
    }  # fmt: skip
    assert set(re.findall(r"steps\.([a-z]+)\.outputs\.([a-z]+)", text)) == written
    assert set(re.findall(r"inputs\.([a-z-]+)", text)) == set(ACTION["inputs"])
    assert [name for name in ACTION["inputs"] if f"| `{name}` |" not in PAGE] == []


# The action's steps.


def both(commit: str) -> dict[str, str]:
    """Return the outputs where what is compared with is where the branch parted."""
    return {"base": commit, "against": commit}


def tip(job: Job) -> str:
    return git(job.play.root, "rev-parse", "HEAD")


def test_the_job_of_the_page_runs_again_where_a_request_gets_another_target() -> None:
    """Way: a request to a branch of one's own is green, and GitHub keeps that with the commit whatever its target."""
    found = re.search(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert found
    when = yaml.load(found[1], yaml.BaseLoader)["on"]
    assert (when["pull_request"]["branches"], "edited" in when["pull_request"]["types"]) == (["main"], True)
    assert "merge_group" in when


def test_the_base_of_a_merge_result_is_its_first_parent(job: Job) -> None:
    target, _ = requested(job.play)
    stale = git(job.play.root, "rev-list", "--max-parents=0", "HEAD")
    assert job.step("base", TARGET=stale, TESTED=tip(job)) == both(target)
    assert job.step("base", BASE="feature", TARGET=stale) == both(git(job.play.root, "rev-parse", "feature"))


def test_the_base_of_a_branch_that_is_checked_out_itself_is_where_it_parted(job: Job) -> None:
    target, _ = requested(job.play)
    tested = tip(job)
    git(job.play.root, "checkout", "-q", "feature")
    parted = git(job.play.root, "merge-base", "feature", target)
    assert job.step("base", TARGET=target, TESTED=tested) == {"base": parted, "against": target}


def test_a_request_whose_own_tip_is_a_merge_is_compared_with_its_target(job: Job) -> None:
    target, _ = requested(job.play)
    tested = tip(job)
    git(job.play.root, "checkout", "-q", "feature")
    git(job.play.root, "merge", "-q", "--no-edit", target)
    assert job.step("base", TARGET=target, TESTED=tested) == both(target)


def test_a_push_is_compared_with_what_was_there_before_it(job: Job) -> None:
    target, _ = requested(job.play)
    git(job.play.root, "update-ref", "refs/remotes/origin/main", target)
    git(job.play.root, "checkout", "-q", "feature")
    parted = git(job.play.root, "merge-base", "feature", target)
    branch = {"base": parted, "against": target}
    assert job.step("base", BEFORE=git(job.play.root, "rev-parse", "HEAD~1"), DEFAULT="main") == branch
    assert job.step("base", BEFORE="0" * 40, DEFAULT="main") == branch  # its first push
    assert job.step("base", BEFORE="12" * 20, DEFAULT="main") == branch  # a forced one
    assert job.step("base", DEFAULT="main") == branch  # started by hand
    assert job.step("base", QUEUED_ON=target, DEFAULT="main") == both(target)
    git(job.play.root, "checkout", "-q", target)
    assert job.step("base", BEFORE=parted, DEFAULT="main") == both(parted)
    assert job.step("base", BEFORE="0" * 40, DEFAULT="main") == {}
    assert (job.code, "checked as it is" in job.said) == (0, True)
    assert job.step("check")["code"] == "0"


def test_a_checkout_that_shows_no_change_is_refused(job: Job, tmp_path: Path) -> None:
    target, _ = requested(job.play)
    git(job.play.root, "checkout", "-q", target)
    assert job.step("base", EVENT="pull_request_target", TARGET=target, TESTED=target) == {}
    assert (job.code, "not the request" in job.said) == (1, True)
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{job.play.root}", "shallow")
    job.play.root = tmp_path / "shallow"
    for given in ({"BEFORE": "0" * 40}, {"BEFORE": "12" * 20}, {"TARGET": "12" * 20, "TESTED": target}):
        assert job.step("base", DEFAULT="main", **given) == {}
        assert (job.code, "fetch-depth: 0" in job.said) == (1, True)


@pytest.mark.parametrize(("base", "code"), [("origin/main", 0), ("main", 0), ("main~0", 1)])
def test_a_tag_with_the_name_of_the_base_is_not_the_base(job: Job, base: str, code: int) -> None:
    target, _ = requested(job.play)
    git(job.play.root, "update-ref", "refs/remotes/origin/main", target)
    for name in ("main", "origin/main"):
        git(job.play.root, "tag", name, "HEAD")
    out = job.step("base", BASE=base)
    assert (job.code, out.get("base")) == (code, None if code else target)
    assert ("could be a tag or a branch" in job.said) == bool(code)


@pytest.mark.parametrize("place", ["refs/tags", "refs/heads"])
def test_what_has_the_whole_name_of_the_base_is_not_the_base(job: Job, place: str) -> None:
    """Of a push to a branch that is called so, the checkout has just that branch."""
    target, _ = requested(job.play)
    base = "refs/remotes/origin/main"
    git(job.play.root, "update-ref", f"{place}/{base}", "HEAD")
    assert job.step("base", DEFAULT="main") == {}
    assert "nothing tells what came before" in job.said
    assert (job.step("base", BASE=base), job.code) == ({}, 1)
    git(job.play.root, "update-ref", base, target)
    assert job.step("base", BASE=base) == both(target)


def test_a_missing_base_says_what_to_do(job: Job) -> None:
    assert job.step("base", BASE="nowhere") == {}
    assert (job.code, "fetch-depth: 0" in job.said) == (1, True)


def test_the_check_of_a_good_branch_passes(job: Job) -> None:
    target, _ = requested(job.play)
    outputs = job.step("check", BASE=target)
    assert outputs["code"] == "0", job.said
    assert json.loads(Path(outputs["sarif"]).read_text())["version"] == "2.1.0"


def test_the_check_of_a_bad_branch_fails_the_job_at_its_end(job: Job) -> None:
    target, _ = requested(job.play)
    (claimed,) = (job.play.root / ".memento" / "runs").rglob("*-claimed-*.yaml")
    claimed.unlink()
    job.play.commit_all("tampered")
    outputs = job.step("check", BASE=target)
    assert outputs["code"] == "5", job.said
    assert outputs["sarif"]
    job.step("verdict", CODE=outputs["code"])
    assert job.code == 5


def test_modules_of_the_checkout_are_not_taken_for_those_of_memento(job: Job) -> None:
    """Way: what Python imports by name, or runs when it starts, lies where the check is run."""
    target, _ = requested(job.play)
    for name in ("memento_git/__init__", "click", "yaml", "sitecustomize", "usercustomize", "conftest", "json", "re"):
        there = job.play.root / f"{name}.py"
        there.parent.mkdir(exist_ok=True)
        there.write_text("raise SystemExit(0)\n")
    (job.play.root / "pyproject.toml").write_text("[tool.memento]\nerrors = []\n")
    (claimed,) = (job.play.root / ".memento" / "runs").rglob("*-claimed-*.yaml")
    claimed.unlink()
    job.play.commit_all("tampered")
    assert job.step("check", BASE=target)["code"] == "5", job.said


def test_what_is_no_error_is_shown_too(job: Job, forge: Forge) -> None:
    job.play.run()
    job.play.as_("agent:hermes").task("By another than its author")
    checked = job.step("check", BASE="HEAD~1")
    assert (checked["code"], checked["found"]) == ("0", "1 (1 of C002)")
    assert "::warning" in job.said
    body = job.step("diff", BASE="HEAD~1", FOUND=checked["found"])["body"]
    given = {"GITHUB_TOKEN": TOKEN, "API": forge.url, "NUMBER": "7", "REPOSITORY": "acme/app", "FOUND": "1"}
    job.step("comment", BODY=body, **given)
    assert "**`memento check` found 1 (1 of C002)**" in forge.comments[0]["body"]


def test_the_table_is_of_the_branch_alone_where_a_base_is_named(job: Job) -> None:
    target, _ = requested(job.play)
    git(job.play.root, "checkout", "-q", "feature")
    parted = git(job.play.root, "merge-base", "feature", target)
    assert job.step("base", BASE="main") == {"base": parted, "against": target}


def test_the_table_has_nothing_that_came_to_the_base_by_an_earlier_request(job: Job) -> None:
    """The branch took the target in as it was before, so there are two merge bases."""
    target, _ = requested(job.play)
    git(job.play.root, "checkout", "-q", "-B", "main")
    git(job.play.root, "checkout", "-q", "feature")
    git(job.play.root, "merge", "-q", "--no-edit", target)
    job.play.task("Only of this request")
    found = job.step("base", BASE="main")
    told = Path(job.step("diff", BASE=found["base"], AGAINST=found["against"])["body"]).read_text()
    assert ("Only of this request" in told, "On the branch" in told) == (True, False)


@pytest.mark.parametrize("code", ["0", "5"])
def test_the_verdict_is_that_of_the_check(job: Job, code: str) -> None:
    job.step("verdict", CODE=code)
    assert job.code == int(code)


def test_the_comment_tells_what_the_branch_did_and_is_updated(job: Job, forge: Forge) -> None:
    target, task = requested(job.play)
    body = job.step("diff", BASE=target)["body"]
    assert task in (job.temp / "summary").read_text()
    given = {"GITHUB_TOKEN": TOKEN, "API": forge.url, "NUMBER": "7", "REPOSITORY": "acme/app"}
    job.step("comment", BODY=body, **given)
    assert (job.code, "created" in job.said) == (0, True), job.said
    assert forge.comments[0]["body"].startswith(f"{MARK}\n### Ledger: 1 task in 1 run, 1 completed, 1 proven")
    nothing = job.step("diff", BASE="HEAD", TIP=target)["body"]
    job.step("comment", BODY=nothing, **given)
    body = f"{MARK}\n### Ledger: nothing changed\n\nThis is about {target}.\n"
    assert [row["body"] for row in forge.comments] == [body]
    forge.comments.clear()
    job.step("comment", BODY=nothing, **given)
    assert forge.comments == []


def test_a_comment_has_room_for_what_was_found_however_much_that_is(job: Job, forge: Forge) -> None:
    """Way: what a branch did, and what is wrong with it, is so much that the comment of before stays."""
    target, _ = requested(job.play)
    held = compare(job.play.ledger, f"{target}..")
    found = f"123456 ({', '.join(f'1234 of {code}' for code in CATALOGUE)})"
    body = Path(job.step("diff", BASE=target, FOUND=found, TIP="f" * 40)["body"])
    beside = body.read_text().removeprefix(markdown(held))
    held["runs"][0]["tasks"] *= 3000
    body.write_text(markdown(held) + beside)
    given = {"GITHUB_TOKEN": TOKEN, "API": forge.url, "NUMBER": "7", "REPOSITORY": "acme/app", "FOUND": found}
    job.step("comment", BODY=str(body), **given)
    assert "created" in job.said, job.said


def test_the_comment_says_that_the_check_could_not_judge(job: Job, forge: Forge) -> None:
    """A table of what is proven is not what stands there alone where nobody could look for what is wrong."""
    target, _ = requested(job.play)
    body = Path(job.step("diff", BASE=target, CODE="70")["body"]).read_text()
    assert "**`memento check` could not judge it** (exit code 70): the log of this job says why.\n" in body
    for code in ("0", "5"):
        assert "could not judge" not in Path(job.step("diff", BASE=target, CODE=code)["body"]).read_text()
    failing = job.temp / "bin" / "memento"
    failing.parent.mkdir(exist_ok=True)
    failing.write_text(f'#!/bin/sh\n[ "$1" != check ] || exit 70\nexec "{sys.executable}" -m memento_git "$@"\n')
    failing.chmod(0o755)
    gitlab(job, forge, target, PATH=f"{failing.parent}{os.pathsep}{os.environ['PATH']}")
    assert (job.code, "could not judge it** (exit code 70)" in forge.comments[0]["body"]) == (70, True), job.said


@pytest.mark.parametrize("status", [403, 500])
def test_a_comment_that_cannot_be_posted_fails_nothing(job: Job, forge: Forge, status: int) -> None:
    forge.fails["POST"] = (status, {})
    body = job.temp / "body.md"
    body.write_text("### Ledger: 1 task\n")
    given = {"GITHUB_TOKEN": TOKEN, "API": forge.url, "NUMBER": "7", "REPOSITORY": "acme/app", "BODY": str(body)}
    job.step("comment", **given)
    assert job.code == 0
    assert "warning" in job.said


def test_a_repository_without_a_ledger_gets_a_warning_and_no_comment(job: Job, forge: Forge) -> None:
    first = git(job.play.root, "rev-list", "--max-parents=0", "HEAD")
    git(job.play.root, "checkout", "-q", first)
    body = job.step("diff", BASE=first)["body"]
    assert (job.code, "::warning::" in job.said) == (0, True)
    given = {"GITHUB_TOKEN": TOKEN, "API": forge.url, "NUMBER": "7", "REPOSITORY": "acme/app"}
    job.step("comment", BODY=body, **given)
    assert (job.code, forge.comments) == (0, [])


def broken(play: Play) -> str:
    """Break the ledger's config on top of HEAD; return the commit."""
    config = play.root / ".memento" / "config.yaml"
    return play.commit(config, config.read_text() + "policy: {}\npolicy: {}\n", "broken")


def test_a_ledger_that_can_no_longer_be_read_takes_the_place_of_what_was_told_before(job: Job, forge: Forge) -> None:
    target, _ = requested(job.play)
    given = {"GITHUB_TOKEN": TOKEN, "API": forge.url, "NUMBER": "7", "REPOSITORY": "acme/app"}
    job.step("comment", BODY=job.step("diff", BASE=target)["body"], **given)
    assert "1 completed, 1 proven" in forge.comments[0]["body"]
    at = broken(job.play)
    found = job.step("check", BASE=target)["found"]
    body = job.step("diff", BASE=target, FOUND=found)["body"]
    assert "config.yaml" in job.said
    job.step("comment", BODY=body, FOUND=found, **given)
    (told,) = [row["body"] for row in forge.comments]
    assert told.startswith(f"{MARK}\n### Ledger: it cannot be read\n\n    error: ")
    assert "proven" not in told
    assert re.search(r"(?m)^    error: .*config\.yaml.* \[ledger_broken\]$", told)
    assert f"`memento check` found {found}" in told
    assert f"This is about {at}." in told
    forge.comments.clear()
    job.step("comment", BODY=body, FOUND=found, **given)
    assert len(forge.comments) == 1


# GitLab.


def gitlab(job: Job, forge: Forge, base: str, **env: str) -> None:
    """Run the job of the template on what is checked out."""
    (script,) = GITLAB["memento"]["script"]
    forge.me = {"username": "bot", "type": ""}
    job.bash(script, {
        "CI_MERGE_REQUEST_EVENT_TYPE": "merged_result", "CI_MERGE_REQUEST_DIFF_BASE_SHA": base, "GITLAB_TOKEN": TOKEN,
        "CI_API_V4_URL": forge.url, "CI_PROJECT_PATH": "group/sub/app", "CI_MERGE_REQUEST_IID": "7", **env,
    })  # fmt: skip


def test_the_gitlab_template_checks_and_posts_a_note(job: Job, forge: Forge) -> None:
    target, task = requested(job.play)
    gitlab(job, forge, target)
    assert task in forge.comments[0]["body"]
    assert f"This is about {tip(job)}." in forge.comments[0]["body"]
    assert job.code == 0, job.said
    assert (job.play.root / "memento.xml").read_text().startswith("<")


def test_the_gitlab_note_tells_of_what_is_no_error_too(job: Job, forge: Forge) -> None:
    """A warning is nothing that fails the job, and what it is about may be no record at all."""
    base = tip(job)
    job.play.commit(".gitattributes", ".memento/** -diff\n", "hide what comes")
    gitlab(job, forge, base)
    assert job.code == 0, job.said
    (told,) = [row["body"] for row in forge.comments]
    assert told.startswith(f"{MARK}\n### Ledger: nothing changed\n")
    assert "**`memento check`: 1 warning in 1 file that differs**, all in the log of this job." in told
    assert "C005" in job.said


def test_the_gitlab_template_writes_through_no_link_of_the_branch(job: Job, forge: Forge) -> None:
    """Else what it finds would be written where nobody reads it, and the note of before would stay."""
    base = tip(job)
    (job.play.root / ".gitattributes").write_text(".memento/** -diff\n")
    for name in ("memento.xml", "memento.txt", "memento.md", "memento.err"):
        (job.play.root / name).symlink_to(os.devnull)
    job.play.commit_all("hide what comes")
    gitlab(job, forge, base)
    assert job.code == 0, job.said
    assert "C005" in job.said
    assert "`memento check`: 1 warning" in forge.comments[0]["body"]
    assert "C005" in (job.play.root / "memento.xml").read_text()


def test_the_gitlab_template_installs_no_folder_of_the_branch(job: Job) -> None:
    """In the checkout pip would take a folder that is called like what it shall install, and run what is in it."""
    (install,) = GITLAB["memento"]["before_script"]
    pip = job.temp / "bin" / "pip"
    pip.parent.mkdir()
    pip.write_text('#!/bin/sh\nfor asked; do :; done\nif [ -d "$asked" ]; then echo taken; else echo "$asked"; fi\n')
    pip.chmod(0o755)
    (job.play.root / "memento-git @ git+https:" / "forge.example" / "memento").mkdir(parents=True)
    named = "memento-git @ git+https://forge.example/memento"
    job.bash(install, {"MEMENTO": named, "PATH": f"{pip.parent}{os.pathsep}{os.environ['PATH']}"})
    assert (job.code, job.said) == (0, f"{named}\n")


def test_the_gitlab_note_says_that_the_ledger_can_no_longer_be_read(job: Job, forge: Forge) -> None:
    target, _ = requested(job.play)
    gitlab(job, forge, target)
    at = broken(job.play)
    gitlab(job, forge, target)
    assert job.code == 5, job.said
    (told,) = [row["body"] for row in forge.comments]
    assert told.startswith(f"{MARK}\n### Ledger: it cannot be read\n\n    error: ")
    assert told.endswith(f"\nThis is about {at}.\n")
    forge.comments.clear()
    first = git(job.play.root, "rev-list", "--max-parents=0", "HEAD")
    git(job.play.root, "checkout", "-qf", first)
    gitlab(job, forge, first)
    assert forge.comments == []


def test_the_gitlab_template_has_the_shape_of_one_job() -> None:
    assert set(GITLAB) == {"memento"}
    job = GITLAB["memento"]
    assert job["artifacts"]["reports"]["junit"] == "memento.xml"
    assert job["variables"]["GIT_DEPTH"] == "0"
    assert job["variables"]["GIT_STRATEGY"] == "clone"  # nothing that a job before it has written counts


# The server.


def test_the_update_hook_of_the_page_takes_good_pushes_and_refuses_bad_ones(play: Play, tmp_path: Path) -> None:
    found = re.search(r"```text\n(#!/bin/sh\n.*?)```", PAGE, re.DOTALL)
    assert found is not None
    bare = tmp_path / "bare.git"
    git(play.root, "init", "-q", "--bare", str(bare))
    hook = bare / "hooks" / "update"
    program = Path(sys.executable).parent / "memento"
    hook.write_text(found[1].replace("exec memento", f"exec {program}"))
    hook.chmod(0o755)
    git(play.root, "push", "-q", str(bare), "main")
    play.planned()
    play.proven()
    git(play.root, "push", "-q", str(bare), "main")
    (claimed,) = (play.root / ".memento" / "runs").rglob("*-claimed-*.yaml")
    claimed.unlink()
    tampered = play.commit_all("tampered")
    before = git(bare, "rev-parse", "main")
    git(play.root, "reset", "-q", "--hard", "HEAD~3")
    fork = play.commit("other.py", "x = 1\n", "as if nothing had come since")
    fake = git(play.root, "commit-tree", f"{fork}^{{tree}}", "-p", before, "-m", "as if it came after that")
    git(play.root, "push", "-q", str(bare), f"{fake}:refs/replace/{fork}")
    other_case = [(f"{tampered}:{ref}",) for ref in ("refs/heads/Main", "refs/heads/MAIN", "refs/Heads/main")]
    for alias, leads in {"master": "main", "trunk": "master"}.items():
        git(bare, "symbolic-ref", f"refs/heads/{alias}", f"refs/heads/{leads}")
    aliased = [(f"{tampered}:refs/heads/{alias}",) for alias in ("master", "trunk")]
    for arguments in (
        (f"{tampered}:main",), ("--force", f"{tampered}~3:main"), ("--force", "main"), (":main",), *other_case, *aliased
    ):  # fmt: skip
        done = subprocess.run(
            ["git", "push", "-q", str(bare), *arguments], cwd=play.root, capture_output=True, text=True, check=False
        )
        assert "hook declined" in done.stderr or "prohibited" in done.stderr, arguments
        assert done.returncode
        assert git(bare, "rev-parse", "main") == before
    assert "/Main" not in git(bare, "for-each-ref")
    git(play.root, "push", "-q", str(bare), "HEAD:refs/heads/Other")
