"""SimGrid on the solver's own flows and routes, where it is installed (Debian: libsimgrid-dev, g++)."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from models.solvers.max_min import flow_completion
from models.topology.routes import Routes

DRIVER = Path(__file__).with_name("simgrid_driver.cpp")
LATENCY_S = 1e-6  # of every link; SimGrid shares a link in inverse proportion to a flow's latency


@dataclass(frozen=True, eq=False)
class SimgridRun:
    """CPU seconds of building the platform and of simulating, finish time of every flow."""

    build_cpu_s: float
    run_cpu_s: float
    finish_s: NDArray[np.float64]


@cache
def driver() -> Path | None:
    """The compiled driver, or None where SimGrid or the compiler is missing."""
    if shutil.which("g++") is None or not Path("/usr/include/simgrid/s4u.hpp").exists():
        return None
    target = Path(tempfile.mkdtemp(prefix="simgrid")) / "driver"
    command = ["g++", "-O2", "-std=c++17", str(DRIVER), "-o", str(target), "-lsimgrid"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return target if done.returncode == 0 else None


def simgrid(
    table: Routes, source: NDArray[np.int64], target: NDArray[np.int64], size_bytes: float
) -> SimgridRun:
    """The flows of `table` (one part each) in SimGrid's CM02 model without cross-traffic."""
    program = driver()
    if program is None:
        raise FileNotFoundError("SimGrid or g++ is not installed")
    used, compact = np.unique(table.links, return_inverse=True)
    hosts = int(max(source.max(), target.max())) + 1
    lines = [f"{hosts} {used.size} {source.size}"]
    lines += [f"{rate!r} {LATENCY_S!r}" for rate in table.capacity[used].tolist()]
    for flow in range(source.size):
        path = compact[table.offsets[flow] : table.offsets[flow + 1]]
        lines.append(f"{source[flow]} {target[flow]} {size_bytes:.0f} {path.size} {' '.join(map(str, path))}")
    with tempfile.TemporaryDirectory() as folder:
        problem, answer = Path(folder) / "problem", Path(folder) / "answer"
        problem.write_text("\n".join(lines))
        command = [str(program), str(problem), str(answer), "--log=root.thresh:error"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        build, run = (float(word) for word in done.stdout.split()[-2:])
        return SimgridRun(build, run, np.loadtxt(answer))


def same_model(table: Routes, size_bytes: float) -> NDArray[np.float64]:
    """Our finish times under CM02's rules: weights 1 / latency, no bandwidth during the latency."""
    latency = LATENCY_S * table.crossings
    done = flow_completion(
        table.capacity,
        table.offsets,
        table.links,
        np.full(latency.size, size_bytes),
        weights=1.0 / latency * latency.max(),
        latency_s=latency,
    )
    return done.finish_s
