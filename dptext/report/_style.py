"""The style sheet of HTML reports: light and dark, narrow and wide, screen and paper.

Series have a colour, a dash and a marker, so that no two differ by colour alone.
"""

from __future__ import annotations

# Colours by name: light, dark. Text has a contrast of at least 4.5 on its paper.
_COLOURS = {
    "paper": ("#ffffff", "#15181c"),
    "ink": ("#1b1f24", "#e6e8eb"),
    "dim": ("#57606a", "#a3acb6"),
    "rule": ("#d5dae0", "#3a424c"),
    "soft": ("#f5f7f9", "#1d2127"),
    "link": ("#0550ae", "#79b8ff"),
    "good": ("#116329", "#56d364"),
    "good-paper": ("#eefaf1", "#12261a"),
    "fair": ("#7d4e00", "#e3b341"),
    "fair-paper": ("#fff8e6", "#2a2310"),
    "bad": ("#a40e26", "#ff7b72"),
    "bad-paper": ("#fff0f0", "#2d1517"),
    "s0": ("#57606a", "#a3acb6"),
    "s1": ("#0b62c4", "#5ea9ff"),
    "s2": ("#b35900", "#f0a04b"),
    "s3": ("#1a7f37", "#4fc46c"),
    "s4": ("#a11d87", "#e58bd3"),
    "s5": ("#007a87", "#3cc7d4"),
    "s6": ("#8a5a44", "#d0a088"),
    "s7": ("#5b3fc4", "#ab9bff"),
}
SERIES = 8


def _named(number: int) -> str:
    return "".join(f"--{name}:{pair[number]};" for name, pair in _COLOURS.items())


_SERIES = "".join(
    f".s{n}{{--c:var(--s{n})}}.s{n} .line,.line.s{n}{{stroke-dasharray:{dash}}}\n"
    for n, dash in enumerate(
        ("none", "none", "7 4", "2 4", "9 3 2 3", "4 2", "12 5", "1 3")
    )
)

_RULES = """
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0 auto;padding:1.25rem 1rem 3rem;max-width:76rem;background:var(--paper);
color:var(--ink);font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,
"Helvetica Neue","Liberation Sans",Arial,sans-serif;overflow-wrap:break-word}
h1{font-size:1.6rem;line-height:1.25;margin:.2rem 0 .4rem;overflow-wrap:anywhere}
h2{font-size:1.2rem;line-height:1.3;margin:0 0 .6rem}
h3{font-size:1rem;margin:1.4rem 0 .4rem}
p,ul{margin:.5rem 0;max-width:75ch}
ul{padding-left:1.25rem}li{margin:.35rem 0}
a{color:var(--link)}
nav ul{list-style:none;padding:0;margin:.8rem 0 0;max-width:none;display:flex;
flex-wrap:wrap;gap:.1rem 1.1rem;font-size:.9rem}
nav li{margin:0;overflow-wrap:anywhere}
section{margin:2.2rem 0 0}
.box{border:1px solid var(--rule);border-left:.45rem solid var(--t);
border-radius:.4rem;padding:1rem 1.1rem;background:var(--tp);margin-top:1.2rem}
.box{--t:var(--dim);--tp:var(--soft)}
.good{--t:var(--good);--tp:var(--good-paper)}
.fair{--t:var(--fair);--tp:var(--fair-paper)}
.bad{--t:var(--bad);--tp:var(--bad-paper)}
.label{display:inline-block;font-size:.85rem;font-weight:700;border:1px solid;
color:var(--t,var(--dim));border-radius:.3rem;padding:.05rem .5rem;margin:0 0 .5rem}
.said{font-size:1.08rem;font-weight:600}
.note{font-size:.875rem;color:var(--dim)}
.pair,.beside{display:grid;gap:0 1.5rem;grid-template-columns:minmax(0,1fr);
align-items:start}
code{font:.9em ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;
overflow-wrap:anywhere}
dl{margin:.5rem 0}dl>div{display:grid;gap:0 1rem;border-top:1px solid var(--rule);
grid-template-columns:minmax(0,13rem) minmax(0,1fr);padding:.3rem 0}
dt{color:var(--dim)}dd{margin:0;overflow-wrap:anywhere}
.scroll{overflow-x:auto;margin:.6rem 0;max-width:100%}
table{border-collapse:collapse;font-size:.95rem;min-width:min(100%,28rem)}
caption{text-align:left;font-weight:600;padding:.3rem 0}
th,td{text-align:left;vertical-align:top;padding:.35rem .9rem .35rem 0;
border-top:1px solid var(--rule)}
th:last-child,td:last-child{padding-right:0}
thead th{border-top:0;vertical-align:bottom;color:var(--dim);font-weight:600}
tbody th{font-weight:400}
.n{text-align:right;font-variant-numeric:tabular-nums}
details{margin:.4rem 0}summary{cursor:pointer;color:var(--link);font-size:.9rem}
footer{margin-top:3rem;font-size:.875rem;color:var(--dim)}
.chart{margin:.8rem 0 1rem;max-width:38rem}
.chart figcaption{font-weight:600;margin-bottom:.3rem}
.chart>svg{display:block;width:100%;height:auto;overflow:visible}
.chart text{font:14px system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",
"Liberation Sans",Arial,sans-serif;fill:var(--ink)}
.chart text.d{fill:var(--dim);font-size:13px}
.axis{stroke:var(--dim);stroke-width:1}.grid{stroke:var(--rule);stroke-width:1}
.line{fill:none;stroke:var(--c);stroke-width:2.2}
.mark{fill:var(--c);stroke:var(--paper);stroke-width:1}
.bar{fill:var(--c);stroke:var(--c)}.bar.s0{fill:none;stroke-width:1.5}
.bar.s2{fill-opacity:.45}.bar.s4{fill-opacity:.45}.bar.s6{fill-opacity:.45}
.legend{list-style:none;padding:0;margin:.3rem 0;display:flex;flex-wrap:wrap;
gap:.15rem 1.1rem;font-size:.9rem}
.legend li{margin:0;display:flex;align-items:center;gap:.4rem;overflow-wrap:anywhere}
.legend svg{flex:none}
.tokens{line-height:2;max-width:75ch}
.t{background:none;color:inherit;padding:0 .2rem;border-radius:.2rem;
border-bottom:3px solid var(--c);background:color-mix(in srgb,var(--c) 16%,transparent)}
.t.s2{border-bottom-style:dashed}.t.s3{border-bottom-style:dotted}
.t.s5{border-bottom-style:double}.t.s7{text-decoration:line-through}
@media (max-width:520px){dl>div{grid-template-columns:minmax(0,1fr)}
th,td{padding-right:.55rem}table{font-size:.875rem}
.cards table,.cards tbody,.cards tr,.cards tbody th,.cards td{display:block}
.cards thead{position:absolute;width:1px;height:1px;overflow:hidden;
clip-path:inset(50%)}
.cards caption{display:block}
.cards tr{border-top:2px solid var(--rule);padding:.4rem 0}
.cards tbody th{border:0;font-weight:600;padding:.1rem 0}
.cards td{border:0;display:grid;text-align:left;gap:0 1rem;padding:.1rem 0;
overflow-wrap:anywhere;
grid-template-columns:minmax(0,1fr) minmax(0,1fr)}
.cards td:empty{display:none}
.cards td::before{content:attr(data-label);color:var(--dim)}}
@media (min-width:960px){.pair{grid-template-columns:repeat(2,minmax(0,1fr))}
.beside{grid-template-columns:repeat(2,minmax(0,1fr))}}
"""

_PRINT = """
body{max-width:none;padding:0;font-size:10pt}
nav{display:none}a{color:inherit;text-decoration:none}
.box,.chart,tr,dl>div,li{break-inside:avoid}h2,h3,caption{break-after:avoid}
.chart{max-width:13cm}.pair,.beside{display:block}.scroll{overflow:visible}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}
details::details-content{content-visibility:visible;block-size:auto}
"""

CSS = (
    f":root{{color-scheme:light dark;{_named(0)}}}\n"
    f"@media (prefers-color-scheme:dark){{:root{{{_named(1)}}}}}\n"
    f"{_RULES.strip()}\n{_SERIES}"
    f"@media print{{:root{{color-scheme:light;{_named(0)}}}{_PRINT}}}\n"
)
