"""Imports flow down only, and nothing under models/ knows the user interface."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FABRICS = {"infiniband", "rocev2", "tcp"}
FOUNDATION = {"solvers", "workload", "topology", "catalog", "scenario"}
LAYER = (
    {"units": 0}
    | dict.fromkeys(FOUNDATION, 1)
    | dict.fromkeys((*FABRICS, "cost"), 2)
    | {"compare": 3, "evidence": 3, "charts": 3, "export": 3, "report": 4, "cli": 4}
)
# Files of one job the fabrics share: their public functions, and those that only some fabrics need.
SAME_JOB: dict[str, dict[str, set[str]]] = {
    "link": {},
    "routing": {},
    "analytical": {},
    "fluid": {},
    "incast": {
        "vl_buffer_bytes": {"infiniband"},  # credits
        "hot_ports": {"rocev2"},  # where pauses start
        "incast_wired": {"infiniband", "rocev2"},  # the wiring their closed forms read
        "incast_packets": {"rocev2"},
        "incast_words": {"rocev2"},
        "port_share_bytes": {"tcp"},  # what a port holds before it drops
        "ecn_threshold_bytes": {"tcp"},  # DCTCP's one threshold; DCQCN's ramp is in dcqcn_sets
    },
    "incast_analytical": {"link_limits_bytes_per_s": {"infiniband"}},  # links that carry what credits allow
}


# Modules that call each other's functions late: a front that hands over to its parts, which need its types.
CIRCLES: tuple[tuple[str, ...], ...] = (
    ("models.solvers.credit",),
    ("models.solvers.load_balance",),
    ("models.compare.incast_checks", "models.compare.incast_headroom"),
    ("views.frame", "views.share", "views.review_pack", "views.decision", "views.sensitivity"),
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
    """The package or file family of a module under models/: `models.charts_cost` and `models.charts` are charts."""
    parts = module.split(".")
    if parts[0] != "models" or len(parts) < 2 or parts[1] in ("", "__init__"):
        return ""
    return parts[1] if parts[1] in LAYER else parts[1].split("_")[0]


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def upward(here: str, there: str) -> str:
    """What is wrong with a module of `here` that imports one of `there`; empty when nothing is."""
    if LAYER[there] > LAYER[here]:
        return "imports upwards"
    if here in FABRICS and there in FABRICS - {here}:
        return "fabrics never import each other"
    if here in FABRICS and there == "cost":
        return "a fabric imports prices"
    if here == "cost" and there in FABRICS:
        return "cost imports a performance module"
    return ""


def functions_of(path: Path) -> dict[str, tuple[str, ...]]:
    """Public functions and their parameters."""
    return {
        node.name: tuple(argument.arg for argument in node.args.args)
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    }


FILES = sorted((ROOT / "models").rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_flow_down(path: Path) -> None:
    here = room(module_of(path))
    for module in imports_of(path):
        assert not module.startswith(("streamlit", "views", "app")), f"{path} imports {module}"
        there = room(module)
        if here and there and here != there:
            fault = upward(here, there)
            assert not fault, f"{path}: {fault} ({module})"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_module_has_a_layer(path: Path) -> None:
    here = room(module_of(path))
    assert here in LAYER or path == ROOT / "models" / "__init__.py", f"{path}: name its layer in LAYER"


@pytest.mark.parametrize(
    ("module", "imported"),
    [
        ("models.charts_cost", "models.cli_text"),
        ("models.charts_cost", "models.report"),
        ("models.export", "models.report_parts"),
        ("models.compare.costs", "models.cli_options"),
        ("models.workload.phases", "models.tcp.link"),
        ("models.tcp.incast", "models.rocev2.link"),
        ("models.tcp.incast", "models.cost.lines"),
        ("models.cost.lines", "models.tcp.link"),
        ("models.units", "models.scenario.load"),
    ],
)
def test_what_is_not_allowed_is_seen(module: str, imported: str) -> None:
    assert upward(room(module), room(imported))


@pytest.mark.parametrize("path", sorted((ROOT / "views").glob("*.py")), ids=lambda p: p.name)
def test_views_hold_no_solver_and_no_price(path: Path) -> None:
    for module in imports_of(path):
        assert not module.startswith(("models.solvers", "numba", "models.cost")), f"{path} imports {module}"


@pytest.mark.parametrize("name", SAME_JOB)
def test_fabrics_have_the_same_public_functions_where_the_job_is_the_same(name: str) -> None:
    own = SAME_JOB[name]
    found = {fabric: functions_of(ROOT / "models" / fabric / f"{name}.py") for fabric in sorted(FABRICS)}
    shared = [
        {function: parameters for function, parameters in functions.items() if function not in own}
        for functions in found.values()
    ]
    assert shared[0]
    assert shared[0] == shared[1] == shared[2]
    for function, holders in own.items():
        assert {fabric for fabric in found if function in found[fabric]} == holders, function


def test_the_notes_name_these_files() -> None:
    notes = (ROOT / "models" / "README.md").read_text("utf-8")
    listed = notes.split("have the same files where the job is the same (")[1].split(")")[0]
    assert [name.strip("` \n") for name in listed.split(",")] == list(SAME_JOB)


def modules_it_runs_with(path: Path) -> set[str]:
    """Modules a file imports, late ones too; those imported for types only left out."""

    def names(node: ast.AST) -> set[str]:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            return set()
        if isinstance(node, ast.Import):
            return {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom) and node.module:
            return {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        return set().union(*map(names, ast.iter_child_nodes(node)))

    return names(ast.parse(path.read_text("utf-8")))


def circle(edges: dict[str, set[str]]) -> list[str]:
    """Modules that import each other in a circle, late imports counted; empty when there is none."""
    try:
        tuple(TopologicalSorter(edges).static_order())
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_module_imports_itself_through_others() -> None:
    paths = [*FILES, *(ROOT / "views").glob("*.py")]
    modules = {module_of(path).removesuffix(".__init__"): path for path in paths}
    edges = {
        name: {
            other
            for other in modules_it_runs_with(path) & modules.keys() - {name}
            if not any(name.startswith(of) and other.startswith(of) for of in CIRCLES)
        }
        for name, path in modules.items()
    }
    assert not circle(edges)
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}})


def test_importing_the_models_does_not_import_compiled_kernels() -> None:
    import subprocess
    import sys

    code = "import sys, models.compare.comparison, models.cli; print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "False"


def test_the_first_answer_of_a_visit_needs_no_compiled_kernels() -> None:
    import subprocess
    import sys

    code = (
        "import sys; from models.compare.comparison import compare; from models.scenario.load import load;"
        "compare(load('scenarios/llama3-70b-1024-h100.yaml'), ('analytical',), unscored=False);"
        "print('numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "False"
