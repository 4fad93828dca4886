"""What is wrong with recipes: files that cannot be read, steps that lead nowhere, secrets in their texts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from memento_git.ledger import layout
from memento_git.model.finding import Finding

if TYPE_CHECKING:
    from memento_git.ledger.view import View


def check_recipes(view: View, paths: Iterable[str], allowed: Collection[str]) -> Iterator[Finding]:
    """Yield what is wrong with the recipes; one that changed may break another, so all are looked at."""
    if not any(layout.recipe_of(path) for path in paths):
        return
    from memento_git.ledger.recipebook import RecipeBook
    from memento_git.texts.secrets import find_secrets, slug

    known = {slug(rule) for rule in allowed}
    book = RecipeBook(view)
    for path in book.paths():
        yield from book.troubles(path)
        for secret in find_secrets((view.read(path) or b"").decode(errors="replace")):
            if slug(secret.rule) not in known:
                yield Finding(
                    "S001", path, secret.line, f"looks like a secret ({secret.rule})", "revoke it, and edit the recipe"
                )
