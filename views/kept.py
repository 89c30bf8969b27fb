"""A bounded memory for what pages derive from results: chart specs and tables; keyed by all they depend on."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar

T = TypeVar("T")

ENTRIES_MAX = 400
_entries: OrderedDict[Hashable, Any] = OrderedDict()
_lock = Lock()


def kept(key: Hashable, make: Callable[[], T]) -> T:
    """What `make` returned for `key`, made once; the least recently used go first. Nobody writes to what is returned."""
    with _lock:
        if key in _entries:
            _entries.move_to_end(key)
            found: T = _entries[key]
            return found
    made = make()
    with _lock:
        _entries[key] = made
        while len(_entries) > ENTRIES_MAX:
            _entries.popitem(last=False)
    return made
