"""Handfuls of sweep points on a Dask cluster that is already there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any

from models.scenario.faults import Fault, InputError

CONNECT_S = 10.0
ADDRESS = re.compile(r"[a-z]+://\S+[:/]\d+$")
Rows = list[tuple[int, str]]


def finished(
    address: str, rows: Callable[..., Rows], task: Any, handfuls: Sequence[tuple[Any, Any]]
) -> Iterator[Rows]:
    """Rows of the handfuls as the workers of the scheduler at `address` finish them.

    Raises InputError when Dask is not installed or the scheduler does not answer.
    """
    if not ADDRESS.match(address):
        raise InputError(
            [Fault(f"--dask {address}", "", "", "is no scheduler address; write tcp://host:port")]
        )
    try:
        distributed: Any = import_module("distributed")
    except ImportError as error:
        problem = "needs the extra `cluster`: pip install 'fabric-compare[cluster]'"
        raise InputError([Fault(f"--dask {address}", "", "", problem)]) from error
    try:
        client = distributed.Client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise InputError([Fault(f"--dask {address}", "", "", f"cannot be reached: {error}")]) from error
    with client:
        shared = client.scatter(task, broadcast=True)
        futures = [client.submit(rows, shared, *handful, pure=False) for handful in handfuls]
        try:
            for future in distributed.as_completed(futures, loop=client.loop):
                yield future.result()
        finally:
            client.cancel([f for f in futures if not f.done()])
