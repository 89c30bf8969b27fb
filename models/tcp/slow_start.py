"""What a TCP connection has delivered while its window doubles: bursts and victims shorter than a ramp-up.

A sender starts with `first_bytes` (RFC 6928: ten segments); every round trip r of acknowledgements doubles the window
(RFC 5681) until it fills the pipe, c r, or the socket buffer. Arrivals at the receiver, from its first byte on:

    D(t) = sum_i min(W_i, c (t - i r)+) over rounds with W_i = first 2^i < c r, then c (t - i r)
"""

from __future__ import annotations

from math import inf


def slow_start_rounds(
    first_bytes: float, round_trip_s: float, rate_bytes_per_s: float, most_bytes: float = inf
) -> list[float]:
    """Windows of the rounds before the pipe is full, bytes; the last one fills it (or is the most there may be).

    >>> [round(w / 1e3) for w in slow_start_rounds(1e4, 1e-4, 1e9)]
    [10, 20, 40, 80, 160]
    """
    windows = [min(first_bytes, most_bytes)]
    while windows[-1] < min(most_bytes, rate_bytes_per_s * round_trip_s):
        windows.append(min(2.0 * windows[-1], most_bytes))
    return windows


def delivered_bytes(
    time_s: float, windows: list[float], round_trip_s: float, rate_bytes_per_s: float
) -> float:
    """Bytes that have arrived `time_s` after the first one could, the sender never short of data.

    >>> delivered_bytes(2e-4, slow_start_rounds(1e4, 1e-4, 1e9), 1e-4, 1e9)
    30000.0
    """
    total = 0.0
    for at, window in enumerate(windows[:-1]):
        total += min(window, rate_bytes_per_s * max(0.0, time_s - at * round_trip_s))
    late_s = max(0.0, time_s - (len(windows) - 1) * round_trip_s)
    # a window below the pipe (a small socket buffer) passes once a round trip
    return total + late_s * min(rate_bytes_per_s, max(windows[-1] / round_trip_s, 0.0))


def slow_start_time_s(
    size_bytes: float, windows: list[float], round_trip_s: float, rate_bytes_per_s: float
) -> float:
    """Time from the first byte's arrival to the last one's: the inverse of `delivered_bytes`.

    >>> windows = slow_start_rounds(1e4, 1e-4, 1e9)
    >>> round(slow_start_time_s(3e4, windows, 1e-4, 1e9) * 1e6)
    120
    """
    left, last = size_bytes, len(windows) - 1
    for at, window in enumerate(windows[:-1]):
        if left <= window:
            return at * round_trip_s + left / rate_bytes_per_s
        left -= window
    return last * round_trip_s + left / min(rate_bytes_per_s, windows[-1] / round_trip_s)


def shared_port_time_s(
    senders: int,
    size_bytes: float,
    windows: list[float],
    round_trip_s: float,
    sender_bytes_per_s: float,
    port_bytes_per_s: float,
) -> float:
    """Time until `senders` equal bursts have left a shared port: max over s of s + (N b - N D(s)) / C.

    The port is busy from the last moment it was empty; between two rounds that is their start.

    >>> windows = slow_start_rounds(1e4, 1e-4, 1e9)
    >>> round(shared_port_time_s(50, 1e4, windows, 1e-4, 1e9, 1e9) * 1e6)
    500
    """
    alone_s = slow_start_time_s(size_bytes, windows, round_trip_s, sender_bytes_per_s)
    worst = alone_s
    for at in range(len(windows)):
        start_s = at * round_trip_s
        if start_s < alone_s:
            left = size_bytes - min(
                size_bytes, delivered_bytes(start_s, windows, round_trip_s, sender_bytes_per_s)
            )
            worst = max(worst, start_s + senders * left / port_bytes_per_s)
    return worst


def port_queues_bytes(
    senders: int,
    size_bytes: float,
    windows: list[float],
    round_trip_s: float,
    sender_bytes_per_s: float,
    port_bytes_per_s: float,
) -> list[float]:
    """Queue at the shared port when the windows of each round have arrived: N D(t) - C t since it was last empty.

    Only rounds in which there is still something to send; nothing is marked or dropped here.

    >>> windows = slow_start_rounds(1e4, 1e-4, 1e9)
    >>> [round(q / 1e3) for q in port_queues_bytes(8, 4e4, windows, 1e-4, 1e9, 1e9)]
    [70, 140, 130]
    """
    queues: list[float] = []
    queue, sent, before_s = 0.0, 0.0, 0.0
    for at, window in enumerate(windows):
        amount = min(window, size_bytes - sent)
        if amount <= 0:
            break
        start_s = at * round_trip_s
        queue = max(0.0, queue - port_bytes_per_s * (start_s - before_s))
        before_s = start_s + amount / sender_bytes_per_s
        queue = max(0.0, queue + senders * amount - port_bytes_per_s * (before_s - start_s))
        queues.append(queue)
        sent += amount
    return queues
