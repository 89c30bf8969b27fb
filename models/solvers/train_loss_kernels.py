"""Loss: drops at a full or faulty port, recovery by selective repeat or go-back-N (compiled).

Go-back-N without sequence numbers: on one route, what reaches the port of a drop later is behind the gap and is marked
dead there; the receiver refuses it, asks once, and awaits the sender's next epoch. `delivered` is then where to go back to.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from models.solvers.queues_state import DEAD, EPOCH_MASK, EPOCH_SHIFT, GATE_DROP, LAST, NEVER
from models.solvers.train_pool_kernels import uniform
from models.solvers.train_sender_kernels import advance_sender_apart, post

U = np.uint64  # unsigned indices need no test for negative ones
LOST = -1


@njit(error_model="numpy", _nrt=False)
def lose(number: int, entry: int, now_ticks: int, s: Any) -> None:
    """Count a lost packet of route step `number` and let its sender hear of it."""
    run = s.run
    slot = s.slots[U(number)]
    if slot.ack == 1:  # acknowledgements are cumulative: the next one says the same
        run.acks -= 1
        return
    flow = s.flows[U(slot.flow)]
    flow.lost += 1
    notice = (np.int64(slot.flow) << 32) | LAST
    if not run.go_back:
        post(run.echo_first, notice, now_ticks + flow.shortest_ticks + flow.reverse_ticks, s)
        return
    epoch = entry & EPOCH_MASK
    if epoch >> EPOCH_SHIFT != flow.awaited_epoch:
        return
    if entry & DEAD == 0 and number > flow.gap_slot:  # the foremost gap counts
        flow.gap_slot = number
    if entry & LAST or run.windowed:  # perhaps nothing follows that shows the gap
        if flow.retry_ticks == NEVER or flow.retry_epoch != epoch >> EPOCH_SHIFT:
            flow.retry_ticks = now_ticks + run.timeout_ticks
            flow.retry_epoch = epoch >> EPOCH_SHIFT
            run.next_retry_ticks = min(run.next_retry_ticks, flow.retry_ticks)


@njit(error_model="numpy", _nrt=False)
def kept(number: int, entry: int, size: int, now_ticks: int, s: Any) -> int:
    """The packet as it enters the port's queue, or LOST."""
    run = s.run
    slot = s.slots[U(number)]
    link = s.links[U(slot.link)]
    lost = link.tripped == 1 and run.watchdog_drops == 1
    if run.gate == GATE_DROP:
        switch = s.switches[U(link.from_switch)]
        allowed = run.gate_alpha * (switch.budget_bytes - switch.used_bytes)
        if link.queue_bytes + size > allowed or switch.used_bytes + size > switch.budget_bytes:
            lost = True
        elif run.loss_fraction > 0.0 and slot.ack == 0 and uniform(run) < run.loss_fraction:
            lost = True
        if not lost:
            switch.used_bytes += size
    if lost:
        lose(number, entry, now_ticks, s)
        return LOST
    if run.go_back and slot.ack == 0:
        flow = s.flows[U(slot.flow)]
        if flow.gap_slot == number:
            return entry | DEAD
    return entry


@njit(error_model="numpy", _nrt=False)
def refused(number: int, entry: int, arrival_ticks: int, flow: Any, s: Any) -> bool:
    """Whether the receiver refuses a packet: behind a gap, or of a sequence the sender has left. It asks once a gap."""
    epoch = (entry & EPOCH_MASK) >> EPOCH_SHIFT
    if epoch == flow.awaited_epoch and entry & DEAD == 0:
        return False
    flow.refused += 1
    if epoch == flow.awaited_epoch:
        flow.awaited_epoch = (epoch + 1) & 15
        notice = (np.int64(number) << 32) | LAST | (entry & EPOCH_MASK)
        post(s.run.echo_first, notice, arrival_ticks + flow.reverse_ticks, s)
    return True


@njit(error_model="numpy", _nrt=False)
def resend(number: int, entry: int, time_ticks: int, s: Any) -> None:
    """The sender hears of a loss: one packet more to send, or back to the gap."""
    flow = s.flows[U(number)]
    left = flow.left + 1
    if s.run.go_back:
        epoch = (entry & EPOCH_MASK) >> EPOCH_SHIFT
        if epoch != flow.epoch:
            return  # it has gone back since
        flow.epoch = (epoch + 1) & 15
        flow.awaited_epoch = flow.epoch
        flow.gap_slot = -1
        flow.acked = flow.sent
        left = flow.packets - flow.delivered
    else:
        flow.acked += 1
    if flow.left == 0 and left > 0:
        nic = s.nics[U(flow.nic)]
        s.nic_flows[U(nic.first + nic.active)] = number
        nic.active += 1
    flow.next_ticks = max(flow.next_ticks, time_ticks) if flow.left == 0 else flow.next_ticks
    flow.left = left
    s.due[U(flow.nic)] = 0


@njit(error_model="numpy", _nrt=False)
def retry(begin: int, end: int, s: Any) -> None:
    """Senders whose retransmission timeout runs out in the window go back."""
    s.run.next_retry_ticks = NEVER
    for number in range(len(s.flows)):
        flow = s.flows[U(number)]
        if flow.retry_ticks < end:
            time = max(flow.retry_ticks, begin)
            flow.retry_ticks = NEVER
            if flow.left > 0 and s.due[U(flow.nic)] < time:
                advance_sender_apart(flow.nic, time, s)
            resend(number, flow.retry_epoch << EPOCH_SHIFT, time, s)
        s.run.next_retry_ticks = min(s.run.next_retry_ticks, flow.retry_ticks)
