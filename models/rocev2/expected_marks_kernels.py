"""Compiled steps of `expected_marks.py`: smooth flows through FIFOs, expected marks, the DCQCN sender, pause gates."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

NO_GATE, PFC, DROP = 0, 1, 2
SLICES = 1024  # a full buffer has about half as many


@njit(cache=True)
def sender_step(f: int, now: float, marks: float, law: Any, state: Any) -> None:
    """One flow's reaction point at `now`; `marks` expected marks heard since the last step.

    law: g, alpha timer, cut interval, increase timer, stages, additive, hyper, least rate, line, byte counter.
    state rows: rate, target, alpha, stage, byte stage, counted bytes, heard, cut flag, alpha flag, cut due, alpha due,
    increase due, marks not yet a whole one.
    """
    s = state[f]
    s[12] += marks
    if s[12] >= 1.0:
        s[12] -= np.floor(s[12])
        if s[6] == 0.0:
            s[6], s[2], s[1] = 1.0, 1.0, s[0]
            s[9], s[10], s[11] = now + law[2], now + law[1], np.inf
        else:
            s[8] = 1.0
        s[7] = 1.0
    if s[6] == 0.0:
        return
    while s[10] <= now:
        s[2] = (1.0 - law[0]) * s[2] + law[0] * s[8]
        s[8] = 0.0
        s[10] += law[1]
    if s[9] <= now:
        while s[9] <= now:
            s[9] += law[2]
        if s[7] > 0.0:
            if s[3] > 0.0 or s[4] > 0.0:
                s[1] = s[0]
            s[0] = max(law[7], s[0] * (1.0 - 0.5 * s[2]))
            s[3] = s[4] = s[5] = s[7] = 0.0
            s[11] = now + law[3]
    while s[11] <= now:
        increase(f, law, state)
        s[3] += 1.0
        s[11] += law[3]
    if law[9] > 0.0 and s[5] >= law[9] and s[11] < np.inf:
        increase(f, law, state)
        s[4] += 1.0
        s[5] = 0.0


@njit(cache=True)
def increase(f: int, law: Any, state: Any) -> None:
    """Fast recovery, additive or hyper increase by the stages of timer and byte counter."""
    s = state[f]
    low = min(s[3], s[4]) if law[9] > 0.0 else s[3]
    high = max(s[3], s[4]) if law[9] > 0.0 else s[3]
    if high >= law[4]:
        s[1] = min(law[8], s[1] + (law[6] if low > law[4] else law[5]))
    s[0] = min(law[8], 0.5 * (s[0] + s[1]))


@njit(cache=True)
def push(
    e: int,
    o: int,
    y: float,
    marked: float,
    parts: Any,
    marks: Any,
    sizes: Any,
    head: Any,
    content: Any,
    depth: Any,
) -> None:
    """Bytes of entry e join the last slice of link o's queue; marks made on the way ride with them."""
    at = head[o, 1] % sizes.shape[1]
    parts[e, at] += y
    marks[e, at] += marked
    sizes[o, at] += y
    content[e] += y
    depth[o] += y


@njit(cache=True)
def take(
    o: int, wanted: float, first: Any, parts: Any, marks: Any, sizes: Any, head: Any, content: Any, depth: Any,
    out: Any, out_marked: Any,
) -> None:  # fmt: skip
    """The first `wanted` bytes of link o's queue and their marks, by entry; slices in the order they came."""
    places = sizes.shape[1]
    lo, hi = first[o], first[o + 1]
    out[lo:hi] = 0.0
    out_marked[lo:hi] = 0.0
    depth[o] = max(0.0, depth[o] - wanted)
    while wanted > 0.0:
        at = head[o, 0] % places
        whole = sizes[o, at]
        share = 1.0 if whole <= wanted else wanted / whole
        for e in range(lo, hi):
            y = parts[e, at] * share
            parts[e, at] -= y
            content[e] -= y
            out[e] += y
            m = marks[e, at] * share
            marks[e, at] -= m
            out_marked[e] += m
        sizes[o, at] = whole - whole * share
        wanted -= whole * share
        if share < 1.0 or head[o, 0] == head[o, 1]:
            return
        head[o, 0] += 1


@njit(cache=True)
def shrink(
    o: int, keep: float, first: Any, parts: Any, marks: Any, sizes: Any, head: Any, content: Any, depth: Any
) -> None:
    """Scale link o's queue to what it has room for."""
    for s in range(head[o, 0], head[o, 1] + 1):
        at = s % sizes.shape[1]
        sizes[o, at] *= keep
        for e in range(first[o], first[o + 1]):
            parts[e, at] *= keep
            marks[e, at] *= keep
    for e in range(first[o], first[o + 1]):
        content[e] *= keep
    depth[o] *= keep


# fmt: off
@njit(cache=True)
def advance(
    link_at: Any, entry_at: Any, count: Any, size: Any, phase: Any, nic_gate_steps: Any, capacity: Any, ports: Any,
    switch: Any, next_switch: Any, gate_steps: Any, first: Any, entry_flow: Any, entry_hop: Any, grain: Any, shared: Any,
    copies: Any, gate_kind: int, alpha: float, reserve: float, kmin: Any, kmax: Any, pmax: Any, law: Any,
    controlled: bool, packet: float, loop_steps: int, step_s: float, steps: int, from_s: float, bursts_only: bool,
) -> Any:
    # fmt: on
    """Steps until every finite flow has ended or `steps` are done.

    Links are numbered from sources to sinks. link_at, entry_at [flows, hops]: link and entry after the NIC, -1 none;
    entries of link o: first[o]:first[o + 1], with entry_flow and entry_hop; count [flows]: equal flows a row stands
    for; next_switch [links]: the switch a link leads to, -1 a receiver. A queue is a ring of slices of `grain` bytes,
    in each what every entry has in it.
    """
    flows, hops = link_at.shape
    links, switches = capacity.size, shared.size
    content, out, out_marked = np.zeros(entry_flow.size), np.zeros(entry_flow.size), np.zeros(entry_flow.size)
    parts, riding = np.zeros((entry_flow.size, SLICES)), np.zeros((entry_flow.size, SLICES))
    sizes = np.zeros((links, SLICES))
    head = np.zeros((links, 2), dtype=np.int64)  # first and last slice of every queue
    depth = np.zeros(links)
    state = np.zeros((flows, 13))
    state[:, 0] = state[:, 1] = law[8]
    state[:, 12] = phase
    sending, next_s = np.full(flows, law[8]), np.zeros(flows)
    heard = np.zeros((loop_steps, flows))
    longest = max(gate_steps.max(), nic_gate_steps.max())
    gates, nic_gates = np.zeros((longest, links)), np.zeros((longest, flows))
    sent, got, early = np.zeros(flows), np.zeros(flows), np.zeros(flows)
    end, paused = np.full(flows, np.inf), np.zeros(flows)
    peak, held, marks = np.zeros(links), np.zeros(links), np.zeros(flows)
    lost, pause_s, first_pause_s = np.zeros(flows), np.zeros(links), np.inf
    ingress, used = np.zeros(links), np.zeros(switches)
    waiting, done, k, shut_until = 0, 0, 0, 0
    for f in range(flows):
        if size[f] < np.inf:
            waiting += 1
    while k < steps:
        now = k * step_s
        if now <= from_s:
            early[:] = got
        slot, gate_slot = k % loop_steps, k % longest
        for f in range(flows):
            left = size[f] - sent[f]
            if left <= 0.0:
                continue
            if controlled:
                sender_step(f, now, heard[slot, f], law, state)
                heard[slot, f] = 0.0
            if now >= next_s[f]:  # the gap to the next packet is fixed when a packet leaves
                sending[f] = state[f, 0]
                next_s[f] = now + packet / sending[f]
            if nic_gates[gate_slot, f] > 0.0:
                paused[f] += step_s
                continue
            wanted = min(sending[f] * step_s, left)
            sent[f] += wanted
            state[f, 5] += wanted
            push(
                entry_at[f, 0], link_at[f, 0], count[f] * wanted, 0.0, parts, riding, sizes, head, content, depth
            )
        used[:] = 0.0
        for o in range(links):
            ingress[o] = 0.0
        for o in range(links):
            if depth[o] <= 0.0:
                continue
            where = switch[o]
            served = min(depth[o], capacity[o] * step_s)
            if gates[gate_slot, o] > 0.0:
                served = 0.0
                pause_s[o] += step_s
            take(o, served, first, parts, riding, sizes, head, content, depth, out, out_marked)
            if gate_kind == DROP and depth[o] > 0.0:
                room = ports[o] * alpha / (1.0 + alpha) * max(0.0, shared[where] - used[where] / copies[where])
                if depth[o] > room:
                    keep = room / depth[o]
                    for e in range(first[o], first[o + 1]):
                        gone = content[e] * (1.0 - keep)
                        sent[entry_flow[e]] -= gone / count[entry_flow[e]]
                        lost[entry_flow[e]] += gone
                    shrink(o, keep, first, parts, riding, sizes, head, content, depth)
            at = depth[o] / ports[o]
            p = 0.0
            if at > kmin[o]:
                p = 1.0 if at > kmax[o] else pmax[o] * (at - kmin[o]) / (kmax[o] - kmin[o])
            peak[o] = max(peak[o], depth[o])
            held[o] += depth[o] * step_s
            used[where] += depth[o]
            for e in range(first[o], first[o + 1]):
                f, h = entry_flow[e], entry_hop[e]
                y = out[e]
                if h > 0:
                    ingress[link_at[f, h - 1]] += content[e]
                if y <= 0.0:
                    continue
                marked = out_marked[e] + p * max(0.0, y / packet - out_marked[e])
                if h + 1 < hops and link_at[f, h + 1] >= 0:
                    push(
                        entry_at[f, h + 1], link_at[f, h + 1], y, marked, parts, riding, sizes, head, content, depth
                    )
                    continue
                marks[f] += marked
                if sent[f] < size[f]:
                    heard[slot, f] += marked / count[f]
                before = got[f]
                got[f] += y / count[f]
                if size[f] < np.inf and before < size[f] - 0.5 <= got[f]:
                    end[f] = now + step_s * (size[f] - before) / (got[f] - before)
                    done += 1
        for o in range(links):  # a slice that is full is followed by a new one
            if sizes[o, head[o, 1] % SLICES] >= grain[o] and head[o, 1] - head[o, 0] < SLICES - 1:
                head[o, 1] += 1
        if gate_kind == PFC:
            near = shut_until > k
            for where in range(switches):
                near = near or used[where] >= reserve + alpha * (shared[where] - used[where] / copies[where])
            if near:  # below, no ingress port can be at its limit
                for f in range(flows):
                    where = switch[link_at[f, 0]]
                    limit = reserve + alpha * max(0.0, shared[where] - used[where] / copies[where])
                    shut = 1.0 if content[entry_at[f, 0]] >= count[f] * limit else 0.0
                    nic_gates[(k + nic_gate_steps[f]) % longest, f] = shut
                    if shut > 0.0:
                        shut_until = k + 2 * longest
                for o in range(links):
                    where = next_switch[o]
                    if where < 0:
                        continue
                    limit = reserve + alpha * max(0.0, shared[where] - used[where] / copies[where])
                    shut = 1.0 if ingress[o] >= ports[o] * limit else 0.0
                    gates[(k + gate_steps[o]) % longest, o] = shut
                    if shut > 0.0:
                        shut_until = k + 2 * longest
                if shut_until > k and first_pause_s == np.inf:
                    first_pause_s = now
        k += 1
        if bursts_only and 0 < waiting <= done:
            break
    return end, got, early, paused, peak, held, marks, lost, pause_s, first_pause_s, k * step_s
