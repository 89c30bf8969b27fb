"""Microsecond solver: packets through egress FIFOs, with marking, sender law and pause, in lookahead windows.

What it answers: how long does an incast take, how deep is the queue, who is paused, what does the victim get.

    network = star(senders=16, rate_bytes_per_s=12.5e9, propagation_s=1e-6, buffer_bytes=32 * 2**20)
    flows = incast_flows(network, senders=16, bytes_per_flow=2**20)
    result = run(network, flows, SenderLaw("none"), Gate("pfc"), Marking(), seed=1)
    result.fct_s                      # (flows,) completion times, nan where a flow did not end
    result.queue.peak_bytes           # watched queues: mean, p50, p99, peak, empty fraction, samples
    result.pause.time_s["host"]       # pause time summed over the host links (also "leaf", "spine", "core")
    many = runs(network, flows, law, gate, marking, seeds=(1, 2, 3))   # tuple of QueueResult
    average(many).fct_mean_s

Anything that is not a star: `leaf_spine(...)`, `three_tier(...)`, or a `QueueNetwork` of your own with `FlowSet.paths`
as link ids (several alternatives a flow = packets are spread over them, `choice="random" | "least_queued"`).
Flows that wait for others: `FlowSet.after`. Acknowledgement load: `FlowSet.ack_paths`.

Method. Every link is a FIFO server; nothing that happens at one end can be felt at the other before the
shortest link delay. Time therefore advances in windows of that length; inside a window each sender and each
port is advanced in exact event order by compiled code (conservative lookahead, Chandy and Misra 1979).
"""
