"""Circles of records that wait for one another. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memento_git.model.enumeration import grouped


def cycles(graph: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Return circles of dependencies, none of which share a task, each from its least task on."""
    left = {task: {other for other in others if other in graph} for task, others in graph.items()}
    found = []
    while left := _stuck(left):
        path = [min(left)]
        while (following := min(left[path[-1]])) not in path:
            path.append(following)
        circle = path[path.index(following) :]
        found.append(turned(circle))
        left = {task: others.difference(circle) for task, others in left.items() if task not in circle}
    return sorted(found)


def turned(circle: Sequence[str]) -> list[str]:
    """Return a circle from its least member on."""
    first = circle.index(min(circle))
    return [*circle[first:], *circle[:first]]


def _stuck(graph: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Return the tasks that wait for a circle, each with those of its dependencies that do."""
    waiting = {task: set(others) for task, others in graph.items()}
    followers = grouped((other, task) for task, others in graph.items() for other in others)
    free = [task for task, others in waiting.items() if not others]
    while free:
        task = free.pop()
        del waiting[task]
        for follower in followers.get(task, ()):
            waiting[follower].discard(task)
            if not waiting[follower]:
                free.append(follower)
    return waiting
