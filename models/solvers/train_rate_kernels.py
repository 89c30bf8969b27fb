"""The DCQCN reaction point of one flow: alpha, cuts, increases, echoes (compiled).

State machine of Zhu et al., SIGCOMM'15, section 5, in the timer-driven form of the public HPCC ns-3 code (`rdma-hw.cc`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from models.solvers.queues_state import NEVER, POWERS, TICKS_PER_NS

U = np.uint64  # unsigned indices need no test for negative ones


@njit(forceinline=True, error_model="numpy", _nrt=False)
def set_gap(flow: Any, run: Any) -> None:
    """Gap between packet starts at the present rate."""
    rounding = run.rounding_ticks
    flow.gap_ticks = int(run.packet_bytes / (flow.rate * rounding) + 0.5) * rounding


@njit(forceinline=True, error_model="numpy", _nrt=False)
def update_alpha(flow: Any, now_ticks: int, s: Any) -> None:
    """Apply the steps of the alpha timer up to `now_ticks`: the first with the echo flag, the others decay only."""
    run = s.run
    steps = int((now_ticks - flow.first_echo_ticks + 0.5) * run.alpha_steps_per_tick)
    elapsed = steps - flow.alpha_steps
    if elapsed > 0:
        alpha = s.powers[1] * flow.alpha + run.g * flow.echo_for_alpha
        elapsed -= 1
        while elapsed >= POWERS:
            alpha *= s.powers[POWERS - 1]
            elapsed -= POWERS - 1
        flow.alpha = alpha * s.powers[U(elapsed)]
        flow.echo_for_alpha = 0
        flow.alpha_steps = steps


@njit(forceinline=True, error_model="numpy", _nrt=False)
def cut(flow: Any, now_ticks: int, s: Any) -> None:
    """Rate decrease at a tick of the cut timer with an echo since the last."""
    run = s.run
    update_alpha(flow, now_ticks, s)
    if flow.stage > 0 or flow.byte_stage > 0:
        flow.target = flow.rate
    flow.rate = max(run.min_rate, flow.rate * (1.0 - flow.alpha / 2.0))
    set_gap(flow, run)
    flow.stage = 0
    flow.byte_stage = 0
    flow.counted_bytes = 0
    flow.increase_ticks = now_ticks + run.increase_ticks
    flow.cut_ticks = NEVER
    flow.cuts += 1


@njit(forceinline=True, error_model="numpy", _nrt=False)
def increase(flow: Any, line: float, run: Any, by_bytes: bool) -> None:
    """Fast recovery, additive or hyper increase, by the timer's and the byte counter's stages."""
    low = flow.stage
    high = flow.stage
    if run.byte_counter > 0.0:
        low = min(flow.stage, flow.byte_stage)
        high = max(flow.stage, flow.byte_stage)
    if high >= run.fast_stages:
        step = run.hyper if low > run.fast_stages else run.additive
        flow.target = min(line, flow.target + step)
    flow.rate = min(line, 0.5 * (flow.rate + flow.target))
    set_gap(flow, run)
    if by_bytes:
        flow.byte_stage += 1
        flow.counted_bytes = 0
    else:
        flow.stage += 1


@njit(forceinline=True, error_model="numpy", _nrt=False)
def timers(flow: Any, line: float, until_ticks: int, s: Any) -> None:
    """Fire the cut and increase timers due before `until_ticks`, in order.

    At equal times the one set earlier goes first, as in an event queue: the increase where its timer is the longer (a
    multiple of the cut interval, say), else the cut.
    """
    while True:
        due = min(flow.cut_ticks, flow.increase_ticks)
        if due >= until_ticks:
            break
        if flow.increase_ticks < flow.cut_ticks + s.run.increase_first:
            increase(flow, line, s.run, False)
            flow.increase_ticks = due + s.run.increase_ticks
        else:
            cut(flow, due, s)


@njit(forceinline=True, error_model="numpy", _nrt=False)
def hear_echo(flow: Any, now_ticks: int, s: Any) -> None:
    """A congestion echo reaches the sender: start the timers at the first, arm the next cut tick."""
    run = s.run
    if flow.first_echo_ticks == NEVER:
        flow.first_echo_ticks = now_ticks
        flow.alpha = 1.0
        flow.target = flow.rate
        flow.echo_for_alpha = 0
        flow.alpha_steps = 0
        flow.cut_ticks = now_ticks + run.cut_ticks + TICKS_PER_NS  # after the alpha timer of the same instant
        return
    update_alpha(flow, now_ticks, s)
    flow.echo_for_alpha = 1
    if flow.cut_ticks == NEVER:
        first = flow.first_echo_ticks + TICKS_PER_NS
        flow.cut_ticks = first + ((now_ticks - first) // run.cut_ticks + 1) * run.cut_ticks
