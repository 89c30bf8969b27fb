"""Imports flow down only, and nothing under models/ knows the user interface."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FABRICS = {"infiniband", "rocev2", "tcp"}
FOUNDATION = {"solvers", "workload", "topology", "catalog", "scenario"}
LAYER = (
    {"units": 0}
    | dict.fromkeys(FOUNDATION, 1)
    | dict.fromkeys((*FABRICS, "cost"), 2)
    | {"compare": 3, "evidence": 3, "charts": 3, "export": 3, "cli": 4}
)


def imports_of(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def room(module: str) -> str:
    parts = module.split(".")
    return parts[1] if parts[0] == "models" and len(parts) > 1 else ""


FILES = sorted((ROOT / "models").rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_flow_down(path: Path) -> None:
    here = path.relative_to(ROOT / "models").parts[0].removesuffix(".py")
    for module in imports_of(path):
        assert not module.startswith("streamlit"), f"{path} imports streamlit"
        there = room(module)
        if there in ("", here) or there not in LAYER or here not in LAYER:
            continue
        assert LAYER[there] <= LAYER[here], f"{path} imports upwards: {module}"
        if here in FABRICS:
            assert there not in FABRICS - {here}, f"{path}: fabrics never import each other ({module})"
            assert there != "cost", f"{path}: a fabric imports prices"
        if here == "cost":
            assert there not in FABRICS, f"{path}: cost imports a performance module ({module})"
        if here == "workload":
            assert there not in FABRICS, f"{path}: a workload imports a fabric ({module})"


@pytest.mark.parametrize("path", sorted((ROOT / "views").glob("*.py")), ids=lambda p: p.name)
def test_views_hold_no_solver_and_no_price(path: Path) -> None:
    for module in imports_of(path):
        assert not module.startswith(("models.solvers", "numba", "models.cost")), f"{path} imports {module}"


def test_fabric_packages_hold_the_same_files_where_the_job_is_the_same() -> None:
    for name in ("link", "routing", "analytical", "fluid"):
        for fabric in FABRICS:
            assert (ROOT / "models" / fabric / f"{name}.py").exists(), f"{fabric}/{name}.py"


def test_importing_the_models_does_not_import_compiled_kernels() -> None:
    import subprocess
    import sys

    code = "import sys, models.compare.comparison, models.cli; print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "False"
