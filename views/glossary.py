"""Words of the trade in one sentence each, for readers who do not run networks."""

GLOSSARY = {
    "work per dollar": "Useful work a year (for training: tokens), relative to the fastest candidate, over the yearly "
    "ownership cost of the whole cluster, not of the network alone.",
    "ownership cost": "Purchase spread over the years at the discount rate, plus energy, space, support and staff.",
    "band": "Where 90 % of seeded draws fall when prices and model error vary together.",
    "InfiniBand": "A network with its own switches and adapters that never drops packets: a sender only sends what the "
    "receiver has promised room for (credits).",
    "RoCE": "RDMA over Converged Ethernet: the same remote memory access on Ethernet switches.",
    "Spectrum-X": "NVIDIA's Ethernet switches and adapters with adaptive routing per packet.",
    "PFC": "Priority flow control: a switch whose buffer fills tells its neighbour to pause. Nothing is lost, but "
    "everyone behind the pause waits, also those who send elsewhere.",
    "ECN": "Explicit congestion notification: a switch with a growing queue marks packets instead of dropping them.",
    "DCQCN": "The usual RoCE sender law: marked packets make the receiver ask the sender to slow down; it speeds up "
    "again step by step.",
    "credits": "Room promised by the receiving end of a link; no credit, no sending. Stops loss like PFC, per link.",
    "incast": "Many senders answer one receiver at the same moment; their data meet at one switch port.",
    "victim": "A flow that does not go to the crowded port but shares a link with flows that do.",
    "fan-in": "How many senders hit the one receiver.",
    "busbw": "Bus bandwidth as nccl-tests prints it: size over time, scaled so that a perfect algorithm reaches the "
    "link's rate whatever the number of ranks.",
    "ring": "Ranks pass pieces round a circle: best use of the links at large sizes, a step per rank at small ones.",
    "tree": "Ranks sum towards a root and hand the result back: few steps, so good at small sizes.",
    "collnet": "NCCL's name for reducing in the switches (SHARP) after summing inside the node.",
    "NVLS": "NVLink SHARP: the NVSwitch inside the node does the sum or the copying.",
    "LL, LL128": "NCCL's low-latency protocols: flags travel with the data, so less waiting and less bandwidth than `simple`.",
    "SHARP": "Reduction inside InfiniBand switches: each GPU's data crosses its link once instead of twice.",
    "rail": "NIC number j of every node; a rail-optimised network gives each rail its own leaf switches.",
    "oversubscription": "Bandwidth of a leaf towards hosts over that towards spines; 1 = none.",
    "tier": "A layer of switches: leaf, spine, core. A tier more means more switches, cables and hops.",
    "ECMP": "Equal-cost multipath: a hash of a flow's addresses picks one of several equal paths, so two big flows may "
    "land on one link.",
    "adaptive routing": "The switch picks the least loaded path packet by packet.",
    "max-min": "Max-min fair: bandwidth is shared until no flow can get more without taking from one that has less.",
    "exposed": "Communication time that compute does not hide.",
    "bubble": "Time a pipeline stage waits at the start and end of a step.",
    "TP": "Tensor parallelism: one layer split over GPUs, usually inside a node.",
    "PP": "Pipeline parallelism: layers split over groups of GPUs.",
    "DP": "Data parallelism: copies of the model on different data, which sum their gradients each step.",
    "EP": "Expert parallelism: experts of a mixture-of-experts model on different GPUs.",
    "CP": "Context parallelism: one long sequence split over GPUs.",
    "analytical": "Closed formulas: link rates, latencies, expected collisions.",
    "fluid": "Rates of all flows solved on the real links and routes, queues stepped through time.",
}
