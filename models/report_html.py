"""A report as one HTML page that needs nothing else: styles and charts inside, no script, no request."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from models.report_parts import Heading, Listed, Part, Table, Text

STYLE = """
body{font:16px/1.5 system-ui,sans-serif;color:#2e3440;max-width:60rem;margin:2rem auto;padding:0 1rem;background:#fff}
h1{font-size:1.6rem;line-height:1.25}h2{font-size:1.2rem;margin-top:2.2rem;border-bottom:1px solid #d8dee6}
p.answer{font-size:1.15rem;border-left:4px solid #0072B2;padding:.4rem .9rem;background:#f3f7fb}
table{border-collapse:collapse;width:100%;font-size:.85rem;margin:.8rem 0}
th,td{padding:.3rem .6rem;border-bottom:1px solid #e5e9f0;text-align:left;vertical-align:top;overflow-wrap:anywhere}
th{border-bottom:2px solid #8a94a3}td.n,th.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
figure{margin:1.2rem 0}figcaption{font-size:.85rem;color:#5b6675}svg{max-width:100%;height:auto}
@media print{body{margin:0;max-width:none}h2{break-after:avoid}figure,table{break-inside:avoid}}
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def html_page(title: str, parts: Sequence[Part]) -> str:
    """The parts as a page called `title`; every text is escaped."""
    body = "\n".join(_part(part) for part in parts)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _part(part: Part) -> str:
    if isinstance(part, Heading):
        return f"<h{part.level}>{escape(part.text)}</h{part.level}>"
    if isinstance(part, Text):
        kind = ' class="answer"' if part.strong else ""
        return f"<p{kind}>{escape(part.text)}</p>"
    if isinstance(part, Listed):
        return "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in part.items) + "</ul>"
    if isinstance(part, Table):
        return _table(part)
    return f"<figure>{part.svg}<figcaption>{escape(part.words)}</figcaption></figure>"


def _table(table: Table) -> str:
    def cells(row: Sequence[str], tag: str) -> str:
        kinds = [' class="n"' if i in table.right else "" for i in range(len(row))]
        return "".join(f"<{tag}{k}>{escape(c)}</{tag}>" for c, k in zip(row, kinds, strict=True))

    head = f"<thead><tr>{cells(table.header, 'th')}</tr></thead>"
    rows = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in table.rows)
    return f"<table>{head}<tbody>{rows}</tbody></table>"
