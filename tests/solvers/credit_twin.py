"""Slow, obvious twin of the credit solver: dictionaries and lists, one tick at a time, first-path routes only."""

from __future__ import annotations

from collections import defaultdict, deque


def twin_run(
    links: list[dict], routes: list[list[int]], sizes: list[int], starts: list[int], rules: dict
) -> dict[str, list]:
    """Completion ticks and delivered bytes per flow, bytes sent and stalled ticks per link.

    `links`: ticks_per_byte, forward, credit, buffer. `sizes`: bytes of payload. Everything in ticks and
    bytes.
    """
    full, header, block = rules["payload"], rules["header"], 64
    agenda: dict[int, list] = defaultdict(list)
    credit = [link["buffer"] // block * block for link in links]
    free = [0.0] * len(links)
    crossbar = [0] * len(links)
    idle_since: list[float | None] = [None] * len(links)
    stalled = [0.0] * len(links)
    sent = [0] * len(links)
    queues: dict = defaultdict(deque)
    queue_busy: dict = defaultdict(bool)
    requests: dict[int, deque] = defaultdict(deque)
    left, delivered, done = list(sizes), [0] * len(sizes), [-1.0] * len(sizes)
    hosts = {route[0]: [f for f, r in enumerate(routes) if r[0] == route[0]] for route in routes}
    turn = dict.fromkeys(hosts, 0)

    def blocks(size: int) -> int:
        return -(-size // block) * block

    def transmit(packet: dict, link: int, start: float) -> None:
        serial = packet["size"] * links[link]["ticks_per_byte"]
        free[link] = start + serial
        sent[link] += packet["size"]
        ready = start + links[link]["forward"]
        route = routes[packet["flow"]]
        if packet["hop"] + 1 < len(route):
            onward = packet["size"] * links[route[packet["hop"] + 1]]["ticks_per_byte"]
            ready += max(0.0, serial - onward) if rules["cut_through"] else serial
        packet["tail"] = start + serial + links[link]["forward"]
        agenda[max(now + 1, int(ready + 0.5))].append(("arrive", packet))

    def ask(key: tuple) -> None:
        queue_busy[key] = True
        packet = queues[key][0]
        output = routes[packet["flow"]][packet["hop"] + 1]
        requests[output].append(key)
        if output not in touched:
            touched.append(output)

    def starve(link: int) -> None:
        if idle_since[link] is None:
            idle_since[link] = max(float(now), free[link])

    def relieve(link: int) -> None:
        if idle_since[link] is not None and idle_since[link] < now:
            stalled[link] += now - idle_since[link]
        idle_since[link] = None

    now = -1
    while any(d < s for d, s in zip(delivered, sizes, strict=True)):
        now += 1
        assert now < 2_000_000, "twin does not end"
        touched: list[int] = []
        for f, start in enumerate(starts):
            if start == now and routes[f][0] not in touched:
                touched.append(routes[f][0])
        for kind, subject in agenda.pop(now, []):
            if kind == "arrive":
                packet, route = subject, routes[subject["flow"]]
                link = route[packet["hop"]]
                if packet["hop"] + 1 == len(route):
                    agenda[now + links[link]["credit"]].append(("credit", (link, blocks(packet["size"]))))
                    flow = packet["flow"]
                    delivered[flow] += packet["size"] - header
                    if delivered[flow] >= sizes[flow]:
                        done[flow] = packet["tail"]
                else:
                    key = (link, route[packet["hop"] + 1] if rules["per_output"] else None)
                    queues[key].append(packet)
                    if not queue_busy[key]:
                        ask(key)
            elif kind == "credit":
                credit[subject[0]] += subject[1]
                if subject[0] not in touched:
                    touched.append(subject[0])
            elif kind == "crossbar":
                key, output = subject
                queue_busy[key] = False
                if queues[key]:
                    ask(key)
                if output not in touched:
                    touched.append(output)
            elif subject not in touched:
                touched.append(subject)
        for link in touched:
            if link in hosts:
                flows = hosts[link]
                ready = [
                    k
                    for o in range(len(flows))
                    for k in [(turn[link] + o) % len(flows)]
                    if left[flows[k]] > 0 and starts[flows[k]] <= now
                ]
                if free[link] > now or not ready:
                    continue
                flow = flows[ready[0]]
                payload = min(full, left[flow])
                if credit[link] < blocks(payload + header):
                    starve(link)
                    continue
                relieve(link)
                credit[link] -= blocks(payload + header)
                left[flow] -= payload
                turn[link] = ready[0] + 1
                transmit(
                    {"flow": flow, "size": payload + header, "hop": 0},
                    link,
                    free[link] if free[link] > now - 1 else float(now),
                )
                agenda[max(now + 1, -int(-free[link] // 1))].append(("host", link))
            elif requests[link] and crossbar[link] <= now:
                key = requests[link][0]
                packet = queues[key][0]
                if credit[link] < blocks(packet["size"]):
                    starve(link)
                    continue
                relieve(link)
                credit[link] -= blocks(packet["size"])
                requests[link].popleft()
                queues[key].popleft()
                behind = routes[packet["flow"]][packet["hop"]]
                agenda[now + links[behind]["credit"]].append(("credit", (behind, blocks(packet["size"]))))
                packet["hop"] += 1
                transmit(packet, link, max(free[link], float(now)))
                busy = packet["size"] * links[link]["ticks_per_byte"] / rules["speedup"]
                crossbar[link] = now + max(1, int(busy + 0.999))
                agenda[crossbar[link]].append(("crossbar", (key, link)))
    return {"done": done, "delivered": delivered, "sent": sent, "stalled": stalled}
