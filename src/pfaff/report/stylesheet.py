"""How a page looks: one column, quiet colours that colour-blind eyes tell apart, readable on paper too."""

CSS = """
:root { --ink: #1c1c1c; --soft: #5c5c5c; --line: #d9d9d9; --good: #0072B2; --bad: #D55E00; --paper: #ffffff; --tint: #f6f7f8; }
* { box-sizing: border-box; }
body { margin: 0; color: var(--ink); background: var(--paper); font: 16px/1.55 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
main, header, footer { max-width: 60rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 2.5rem; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .6rem; }
h2 { font-size: 1.3rem; margin: 3rem 0 .8rem; padding-bottom: .3rem; border-bottom: 2px solid var(--ink); }
h3 { font-size: 1.02rem; margin: 0; }
a { color: var(--good); }
.counts { display: flex; flex-wrap: wrap; gap: .8rem; margin: 1.2rem 0; padding: 0; list-style: none; }
.counts li { border: 1px solid var(--line); border-radius: .5rem; padding: .5rem 1rem; min-width: 7.5rem; }
.counts b { display: block; font-size: 1.6rem; line-height: 1.2; }
.counts span, .where, .remark, figcaption, footer, .status { color: var(--soft); font-size: .9rem; }
nav ol { columns: 2; column-gap: 2.5rem; padding-left: 1.2rem; margin: .4rem 0 0; }
nav li { break-inside: avoid; margin-bottom: .15rem; }
article { border-top: 1px solid var(--line); padding: .9rem 0; }
article > div.head { display: flex; gap: .8rem; align-items: baseline; justify-content: space-between; }
.badge { flex: none; border-radius: 1rem; padding: .05rem .7rem; font-size: .82rem; border: 1.5px solid currentColor; }
.good { color: var(--good); } .bad { color: var(--bad); font-weight: 600; }
.formula { overflow-x: auto; overflow-y: hidden; padding: .5rem 0; }
math { font-size: 1.1em; font-family: "STIX Two Math", "Latin Modern Math", "Cambria Math", "XITS Math", "TeX Gyre Termes Math", math, serif; }
.named { display: grid; grid-template-columns: 6rem minmax(0, 1fr); align-items: center; }
.named > span { color: var(--soft); } .named math { margin-left: 0; text-align: left; }
table { border-collapse: collapse; margin: .35rem 0; }
th { text-align: left; font-weight: 500; color: var(--soft); padding: .1rem 1.2rem .1rem 0; white-space: nowrap; vertical-align: top; }
td { padding: .1rem 0; font-variant-numeric: tabular-nums; }
.parts { margin: .3rem 0 0 1rem; border-left: 3px solid var(--line); padding-left: 1rem; }
.parts article { border-top: none; padding: .35rem 0; }
details { margin-top: .4rem; } summary { cursor: pointer; color: var(--soft); font-size: .9rem; }
pre { background: var(--tint); border: 1px solid var(--line); border-radius: .4rem; padding: .8rem; overflow-x: auto; font: 13px/1.45 ui-monospace, "DejaVu Sans Mono", monospace; }
figure { margin: 1.5rem 0; } figure img { max-width: 100%; height: auto; display: block; margin: 0 auto; }
figcaption b { color: var(--ink); }
footer { border-top: 2px solid var(--ink); margin-top: 3rem; padding-top: .8rem; padding-bottom: 3rem; }
@media (max-width: 40rem) { nav ol { columns: 1; } article > div.head { flex-direction: column; gap: .2rem; } }
@media print { details:not([open]) { display: none; } article { break-inside: avoid; } }
"""
