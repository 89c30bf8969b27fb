"""Nothing is kept that nothing uses: names of the models, and parameters of their private functions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MODELS = sorted((ROOT / "models").rglob("*.py"))
READERS = [*MODELS, *(ROOT / "views").glob("*.py"), *(ROOT / "tests").rglob("*.py"), ROOT / "app.py"]
LEFT: set[str] = set()
CALLED_BY_OTHERS = {
    "_schema",
    "_never_asked",
    "_nowhere",
}  # handed over where a function of that form is called
LONG_TEXT = 400  # a docstring that mentions a name does not use it


def defined(tree: ast.Module) -> Iterator[str]:
    """Functions, classes, public methods and constants of a module."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        if isinstance(node, ast.ClassDef):
            yield from (
                m.name for m in node.body if isinstance(m, ast.FunctionDef) and not m.name.startswith("_")
            )
        targets = node.targets if isinstance(node, ast.Assign) else []
        targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
        yield from (t.id for t in targets if isinstance(t, ast.Name) and not t.id.startswith("__"))


def used(tree: ast.Module) -> Iterator[str]:
    """Names a module reads, imports, or has in a short text (scenario keys and lookups by name)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.alias):
            yield node.name
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < LONG_TEXT:
            yield from re.findall(r"\w+", node.value)


def unread(function: ast.FunctionDef) -> set[str]:
    """Parameters that a function's body does not read."""
    read = {node.id for line in function.body for node in ast.walk(line) if isinstance(node, ast.Name)}
    named = [*function.args.args, *function.args.kwonlyargs]
    return {argument.arg for argument in named} - read - {"self", "cls"}


def test_every_name_of_the_models_is_used_somewhere() -> None:
    here = Path(__file__).resolve()
    trees = {path: ast.parse(path.read_text("utf-8")) for path in READERS if path != here}
    names = {name for tree in trees.values() for name in used(tree)}
    unused = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in MODELS
        for name in defined(trees[path])
        if name not in names | LEFT
    }
    assert not unused


def test_private_functions_read_their_parameters() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {node.name}({', '.join(sorted(unread(node)))})"
        for path in MODELS
        if not path.stem.endswith("_kernels")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("_") and not node.name.endswith("__")
        if node.name not in CALLED_BY_OTHERS and unread(node)
    }
    assert not found


def test_what_is_unused_is_seen() -> None:
    tree = ast.parse("LIMIT = 3\ndef area(width, height):\n    return width * width\n")
    assert set(defined(tree)) == {"LIMIT", "area"} and "LIMIT" not in set(used(tree))
    function = tree.body[1]
    assert isinstance(function, ast.FunctionDef) and unread(function) == {"height"}
