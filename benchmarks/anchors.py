"""Anchors followed through a history: how fast, and how often rightly, by labels. Prints Markdown."""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from memento_git.knowledge import following, pinning
from memento_git.knowledge.anchors import Found
from memento_git.knowledge.other_files import Texts
from memento_git.ledger.git import Git
from memento_git.model.anchors import Anchor, parse

HERE: Final = Path(__file__).resolve().parent
LABELS: Final = HERE / "labels" / "anchors.yaml"
RELEASES: Final = ("6.7", "7.1.2", "8.0.4", "8.1.7")
ANCHORS: Final = 2000
COMMITS: Final = 500
SEED: Final = 7
CODE: Final = re.compile(r"\.(py|md|toml|js|html|css)$")
PERSON: Final = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "bench"), ("EMAIL", "bench@example.invalid"), ("DATE", "2026-01-01T00:00:00Z"))
}


def git(folder: Path, *arguments: str, data: bytes = b"") -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=folder, input=data, capture_output=True, check=True, env={**os.environ, **PERSON}
    )
    return done.stdout.decode(errors="replace").strip()


# Labels.


class Label(NamedTuple):
    """One judgement: the anchor at one commit, and the state and the places that are right at another."""

    kind: str
    of: str
    at: str
    anchor: str
    now: str
    state: str
    places: tuple[str, ...]


def labels() -> list[Label]:
    rows: list[dict[str, Any]] = yaml.safe_load(LABELS.read_text(encoding="utf-8"))
    return [
        Label(
            row["kind"], row["of"], str(row["at"]), row["anchor"], str(row["now"]), row["state"],
            (row["place"], *_others(row)) if "place" in row else (),
        )
        for row in rows
    ]  # fmt: skip


def _others(row: dict[str, Any]) -> list[str]:
    path = row["place"].rpartition(":")[0]
    return [f"{path}:{lines}" for lines in row.get("or", [])]


def releases(folder: Path) -> Path:
    """Make a repository whose commits are releases of click, from the archives in its registry."""
    made = folder / "click"
    git(folder, "init", "-q", "-b", "main", str(made))
    for version in RELEASES:
        archive = folder / f"click-{version}.tar.gz"
        if not archive.exists():
            asked = ["download", "-q", "--no-deps", "--no-binary", ":all:", f"click=={version}", "-d", str(folder)]
            subprocess.run([sys.executable, "-m", "pip", *asked], check=True)
        git(made, "rm", "-rqf", "--ignore-unmatch", ".")
        with tarfile.open(archive) as packed:
            packed.extractall(folder / "open", filter="data")
        for place in sorted((folder / "open" / f"click-{version}").iterdir()):
            if place.name != "PKG-INFO" and not place.name.endswith(".egg-info"):
                place.rename(made / place.name)
        git(made, "add", "-Af")
        git(made, "commit", "-qm", f"click {version}")
        git(made, "tag", f"v{version}")
    return made


class Score(NamedTuple):
    """What of one label is right."""

    state: bool
    place: bool


def score(label: Label, found: Found, texts: Texts) -> Score:
    state = found.state == label.state
    if not label.places:
        return Score(state, state)
    text = texts.text(found.new) if found.new else None
    lines = _trimmed(found.lines, text)
    near = any(_is_near(parse(place), found.path, lines, text) for place in label.places)
    return Score(state, state and near)


def _trimmed(lines: tuple[int, int] | None, text: Any) -> tuple[int, int] | None:
    """Return a range without blank lines at its ends."""
    if lines is None or text is None:
        return lines
    first, last = lines
    while first < last and not text.plain[first - 1]:
        first += 1
    while last > first and not text.plain[last - 1]:
        last -= 1
    return first, last


def _is_near(place: Anchor, path: str, lines: tuple[int, int] | None, text: Any) -> bool:
    """Tell whether a place is the right one, by one line more or less at either end."""
    if place.path != path:
        return False
    wanted = _trimmed(place.lines, text)
    return wanted is None or (lines is not None and abs(wanted[0] - lines[0]) <= 1 and abs(wanted[1] - lines[1]) <= 1)


def judged(folder: Path, *, verbose: bool) -> list[str]:
    """Return the table of how often a label was met."""
    repositories = {"this": HERE.parent, "click": releases(folder)}
    told: list[tuple[Label, Score]] = []
    for name, place in repositories.items():
        with following.opened(Git(place)) as follower:
            for label in labels():
                if label.of != name:
                    continue
                then = follower.at(label.at)
                anchor = pinning.pin(parse(label.anchor), follower, then, None)
                found = follower.follow([anchor], follower.at(label.now))[0]
                told.append((label, score(label, found, follower.texts)))
                if verbose and not told[-1][1].place:
                    print(
                        f"{label.anchor} {label.at[:8]}..{label.now[:8]}: {label.state} {label.places} / {found.data()}"
                    )
    lines = ["| what happened | labels | state right | state and place right |", "|---|---:|---:|---:|"]
    for kind in [*dict.fromkeys(label.kind for label, _ in told), "all"]:
        some = [one for label, one in told if kind in ("all", label.kind)]
        right, placed = sum(one.state for one in some), sum(one.place for one in some)
        lines.append(
            f"| {kind} | {len(some)} | {right} ({right / len(some):.0%}) | {placed} ({placed / len(some):.0%}) |"
        )
    wrong = Counter((label.state, one.state) for label, one in told if not one.state)
    return [*lines, "", f"labelled: {dict(Counter(label.state for label, _ in told))}; wrong: {sum(wrong.values())}"]


# Rate.


def line_of(folder: Path, length: int) -> tuple[Path, list[str]]:
    """Make a straight history of the trees of this repository's first commits, as many as are asked for."""
    made = folder / "line"
    real = git(HERE.parent, "rev-list", "--topo-order", "--reverse", "HEAD").split()[:length]
    git(folder, "clone", "-q", "--bare", "--no-tags", str(HERE.parent), str(made))
    trees = git(made, "rev-parse", *(f"{commit}^{{tree}}" for commit in real)).split()
    commits: list[str] = []
    for tree in trees:
        parent = ["-p", commits[-1]] if commits else []
        commits.append(git(made, "commit-tree", tree, *parent, "-m", "step"))
    return made, commits


def drawn(made: Path, commits: list[str], count: int) -> list[Anchor]:
    """Pin anchors at random commits: three in four to lines, one in eight each to a symbol and a whole file."""
    dice = random.Random(SEED)
    anchors: list[Anchor] = []
    with following.opened(Git(made)) as follower:
        chosen = sorted(dice.sample(range(len(commits) * 3 // 4), min(100, len(commits) // 2)))
        while len(anchors) < count:
            then = follower.at(commits[dice.choice(chosen)])
            path = dice.choice(
                [one for one, entry in then.entries.items() if entry.type == "blob" and CODE.search(one)]
            )
            text = follower.texts.text(then.blob(path))
            if text is None or len(text) < 5:
                continue
            first, kind = dice.randint(1, len(text)), dice.random()
            wanted = Anchor(path, (first, min(len(text), first + dice.randint(0, 15))))
            names = sorted(follower.texts.symbols(path, then.blob(path)).ranges) if kind > 0.75 else []
            if kind > 0.875:
                wanted = Anchor(path)
            elif names:
                wanted = Anchor(path, symbol=dice.choice(names))
            anchors.append(pinning.pin(wanted, follower, then, None))
    return anchors


def rate(folder: Path, count: int, length: int) -> list[str]:
    """Return the table of how long following takes: to one commit, and to each commit of the history in turn."""
    made, commits = line_of(folder, length)
    anchors = drawn(made, commits, count)
    started = time.perf_counter()
    with following.opened(Git(made)) as follower:
        last = follower.follow(anchors, follower.at(commits[-1]))
    once = time.perf_counter() - started
    started = time.perf_counter()
    states: Counter[str] = Counter()
    with following.opened(Git(made)) as follower:
        for commit in commits:
            states.update(found.state for found in follower.follow(anchors, follower.at(commit)))
    every = time.perf_counter() - started
    steps = count * len(commits)
    return [
        f"{count:,} anchors, the first {len(commits)} commits of this repository", "",
        "| what | seconds | anchors a second |", "|---|---:|---:|",
        f"| {count:,} anchors followed to the last commit | {once:.2f} | {count / once:,.0f} |",
        f"| {count:,} anchors followed to each of {len(commits)} commits | {every:.1f} | {steps / every:,.0f} |",
        f"| so a commit, for all anchors | {every / len(commits):.3f} | |",
        "", f"states at the last commit: {dict(Counter(one.state for one in last).most_common())}",
        f"states over all commits: {dict(states.most_common())}",
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few anchors and commits: does it work?")
    parser.add_argument("--labels", action="store_true", help="only the labels, with each that was not met")
    parser.add_argument("--archives", type=Path, help="folder that has, or gets, click's archives")
    asked = parser.parse_args()
    count, length = (100, 20) if asked.quick else (ANCHORS, COMMITS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for archive in sorted(asked.archives.glob("click-*.tar.gz")) if asked.archives else []:
            (folder / archive.name).write_bytes(archive.read_bytes())
        print("\n".join(judged(folder, verbose=asked.labels)))
        if not asked.labels:
            print("\n" + "\n".join(rate(folder, count, length)))


if __name__ == "__main__":
    main()
