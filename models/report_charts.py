"""Charts of the report as plain SVG text: no library, no script, nothing to load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

INK, GRID, PALE = "#3b4252", "#d8dee6", "#8a94a3"
WIDTH, LEFT, RIGHT, ROW = 760, 210, 70, 34
FONT = 'font-family="system-ui, sans-serif" font-size="13"'


def intervals(
    title: str,
    rows: Sequence[tuple[str, float, float, float]],
    colours: Mapping[str, str],
    axis: str,
) -> str:
    """A dot with its band a candidate; rows are (name, low, mid, high)."""
    low = min(row[1] for row in rows)
    high = max(row[3] for row in rows)
    place = _Scale(low, high)
    height = 46 + ROW * len(rows) + 40
    parts = [place.grid(40, height - 40, axis)]
    for i, (name, lo, mid, hi) in enumerate(rows):
        y = 58 + ROW * i
        colour = colours.get(name, INK)
        parts += [
            _text(LEFT - 12, y + 4, name, "end"),
            _line(place(lo), y, place(hi), y, colour, 3),
            f'<circle cx="{place(mid):.1f}" cy="{y}" r="6" fill="{colour}"/>',
            _text(place(hi) + 8, y + 4, _number(mid), "start", PALE),
        ]
    return _svg(title, height, parts)


def tornado_bars(title: str, rows: Sequence[tuple[str, float, float, float, str, str]], axis: str) -> str:
    """One bar an input from its low to its high; rows are (name, at low, at mid, at high, low text, high text)."""
    ends = [value for row in rows for value in row[1:4]] + [0.0]
    place = _Scale(min(ends), max(ends), left=300)
    height = 46 + 26 * len(rows) + 44
    parts = [place.grid(40, height - 40, axis)]
    zero = place(0.0)
    for i, (name, low, mid, high, low_text, high_text) in enumerate(rows):
        y = 50 + 26 * i
        parts.append(_text(288, y + 13, _short(name, 44), "end"))
        for value, text, colour in ((low, low_text, "#0072B2"), (high, high_text, "#D55E00")):
            a, b = sorted((place(mid), place(value)))
            parts.append(
                f'<rect x="{a:.1f}" y="{y}" width="{max(1.0, b - a):.1f}" height="17" fill="{colour}">'
                f"<title>{escape(name)} = {escape(text)}: {value:+.2%}</title></rect>"
            )
    parts.append(_line(zero, 40, zero, height - 40, INK, 1))
    legend = '<tspan fill="#0072B2">input low</tspan>  <tspan fill="#D55E00">input high</tspan>'
    parts.append(f'<text x="{WIDTH - 10}" y="34" text-anchor="end" {FONT}>{legend}</text>')
    return _svg(title, height, parts)


def stacked(title: str, rows: Sequence[tuple[str, Sequence[tuple[str, float]]]], axis: str) -> str:
    """Horizontal bars of parts that add up; rows are (name, ((part, value), ...)), the parts in the same order."""
    shades = ("#4c72a8", "#a5bcd9", "#d9b26f", "#c9ced6", "#8fb996")
    place = _Scale(0.0, max(sum(v for _, v in parts) for _, parts in rows))
    height = 70 + ROW * len(rows) + 40
    drawn = [place.grid(64, height - 40, axis)]
    x = LEFT
    for (part, _), shade in zip(rows[0][1], shades, strict=False):
        drawn.append(f'<rect x="{x}" y="36" width="12" height="12" fill="{shade}"/>')
        drawn.append(_text(x + 17, 47, part, "start"))
        x += 30 + 7 * len(part)
    for i, (name, parts) in enumerate(rows):
        y, at = 70 + ROW * i, 0.0
        drawn.append(_text(LEFT - 12, y + 15, name, "end"))
        for (part, value), shade in zip(parts, shades, strict=False):
            drawn.append(
                f'<rect x="{place(at):.1f}" y="{y}" width="{max(0.0, place(at + value) - place(at)):.1f}" height="22" '
                f'fill="{shade}"><title>{escape(name)}, {escape(part)}: {_number(value)}</title></rect>'
            )
            at += value
        drawn.append(_text(place(at) + 8, y + 15, _number(at), "start", PALE))
    return _svg(title, height, drawn)


def scatter(
    title: str,
    rows: Sequence[tuple[str, float, float]],
    colours: Mapping[str, str],
    x_axis: str,
    y_axis: str,
    joined: Sequence[str] = (),
) -> str:
    """Points by name; rows are (name, x, y); the points of `joined` are linked in that order."""
    across = _Scale(min(r[1] for r in rows), max(r[1] for r in rows), left=80)
    height = 330
    lows, highs = min(r[2] for r in rows), max(r[2] for r in rows)
    pad = (highs - lows) * 0.12 or abs(highs) * 0.02 or 1.0
    bottom, top = lows - pad, highs + pad

    def down(y: float) -> float:
        return 48 + (top - y) / (top - bottom) * (height - 48 - 44)

    parts = [across.grid(48, height - 44, x_axis)]
    for y in _ticks(bottom, top):
        parts += [
            _line(80, down(y), WIDTH - RIGHT, down(y), GRID, 1),
            _text(74, down(y) + 4, _number(y), "end", PALE),
        ]
    parts.append(_text(10, 40, y_axis, "start", PALE))
    at = {name: (across(x), down(y)) for name, x, y in rows}
    line = " ".join(f"{at[n][0]:.1f},{at[n][1]:.1f}" for n in joined if n in at)
    parts.append(f'<polyline points="{line}" fill="none" stroke="{PALE}" stroke-dasharray="4 3"/>')
    for name, _, _ in rows:
        x, y = at[name]
        side = "end" if x > WIDTH * 0.6 else "start"
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="{colours.get(name, INK)}"/>')
        parts.append(_text(x + (-11 if side == "end" else 11), y - 8, name, side))
    return _svg(title, height, parts)


class _Scale:
    """Numbers to pixels across."""

    def __init__(self, low: float, high: float, left: int = LEFT) -> None:
        pad = (high - low) * 0.06 or abs(high) * 0.05 or 1.0
        self.low, self.high, self.left = (low if low == 0.0 else low - pad), high + pad, left

    def __call__(self, value: float) -> float:
        return self.left + (value - self.low) / (self.high - self.low) * (WIDTH - RIGHT - self.left)

    def grid(self, top: int, bottom: int, axis: str) -> str:
        """Vertical lines with their numbers, and what the axis shows."""
        lines = [
            _line(self(x), top, self(x), bottom, GRID, 1)
            + _text(self(x), bottom + 16, _number(x), "middle", PALE)
            for x in _ticks(self.low, self.high)
        ]
        return "".join(lines) + _text((self.left + WIDTH - RIGHT) / 2, bottom + 34, axis, "middle", PALE)


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers inside the range, four to nine of them."""
    from math import ceil, floor, log10

    step = 10.0 ** floor(log10((high - low) / 4))
    step *= next(m for m in (1, 2, 5, 10) if (high - low) / (step * m) <= 7)
    return [i * step for i in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]


def _number(value: float) -> str:
    size = abs(value)
    if size >= 1e9:
        return f"{value / 1e9:.4g} B"
    if size >= 1e6:
        return f"{value / 1e6:.4g} M"
    if size >= 1e4:
        return f"{value / 1e3:.4g} k"
    return f"{value:.4g}"


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _text(x: float, y: float, text: str, anchor: str, colour: str = INK) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" {FONT}>{escape(text)}</text>'
    )


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, width: int) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width}"/>'


def _svg(title: str, height: int, parts: Sequence[str]) -> str:
    head = (
        f'<text x="0" y="18" font-weight="600" fill="{INK}" {FONT.replace("13", "15")}>{escape(title)}</text>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{escape(title, quote=True)}">{head}{"".join(parts)}</svg>'
    )
