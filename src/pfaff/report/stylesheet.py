"""How a page looks: one column, quiet colours that colour-blind eyes tell apart, readable on paper too."""

CSS = """
:root { --ink: #1c1c1c; --soft: #5c5c5c; --line: #d9d9d9; --good: #0072B2; --bad: #D55E00; --paper: #ffffff; --tint: #f6f7f8; color-scheme: light dark; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8ea; --soft: #a2a9b0; --line: #3a4047; --good: #5fb8ec; --bad: #ff9a5c; --paper: #14171a; --tint: #1c2024; } }
* { box-sizing: border-box; }
body { margin: 0; color: var(--ink); background: var(--paper); font: 16px/1.55 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
.page { margin-left: 17rem; } main, header, footer { max-width: 60rem; margin: 0 auto; padding: 0 1.25rem; }
body > nav { position: fixed; inset: 0 auto 0 0; width: 17rem; overflow-y: auto; padding: 1rem 1rem 2rem; border-right: 1px solid var(--line); background: var(--tint); font-size: .88rem; }
body > nav h2 { font-size: 1rem; margin: 0 0 .5rem; border: 0; padding: 0; } body > nav ol { padding-left: 1.1rem; margin: .6rem 0 0; } body > nav li { margin-bottom: .35rem; }
.filter { display: block; } .filter select { font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--line); border-radius: .3rem; padding: .15rem .3rem; max-width: 100%; }
body[data-show=differs] article[data-verdict]:not([data-verdict=differs]):not([data-verdict="not shown"]), body[data-show=reproduced] article[data-verdict]:not([data-verdict=reproduced]), body[data-show=figures] article[data-verdict], body:is([data-show=differs], [data-show=reproduced]) figure { display: none; }
article:target { outline: 2px solid var(--good); outline-offset: .4rem; border-radius: .3rem; } section, article, figure { scroll-margin-top: 1rem; }
.here { position: absolute; padding-left: .3em; visibility: hidden; text-decoration: none; } h3:hover .here, .here:focus { visibility: visible; } .see { margin: .3rem 0; font-size: .9rem; }
header { padding-top: 2.5rem; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .6rem; }
h2 { font-size: 1.3rem; margin: 3rem 0 .8rem; padding-bottom: .3rem; border-bottom: 2px solid var(--ink); }
h3 { font-size: 1.02rem; margin: 0; }
a { color: var(--good); }
.counts { display: flex; flex-wrap: wrap; gap: .8rem; margin: 1.2rem 0; padding: 0; list-style: none; }
.counts li { border: 1px solid var(--line); border-radius: .5rem; padding: .5rem 1rem; min-width: 7.5rem; }
.counts b { display: block; font-size: 1.6rem; line-height: 1.2; }
.counts span, .where, .remark, figcaption, footer, .status { color: var(--soft); font-size: .9rem; }
article { border-top: 1px solid var(--line); padding: .9rem 0; } h2 + article { border-top: 0; padding-top: 0; }
article > div.head { display: flex; gap: .8rem; align-items: baseline; justify-content: space-between; }
.badge { flex: none; border-radius: 1rem; padding: .05rem .7rem; font-size: .82rem; border: 1.5px solid currentColor; }
.good { color: var(--good); } .bad { color: var(--bad); font-weight: 600; }
.formula { overflow-x: auto; overflow-y: hidden; padding: .5rem 0; background: linear-gradient(to right, var(--paper) 50%, transparent) 0 0 / 2rem 100% local, linear-gradient(to left, var(--paper) 50%, transparent) 100% 0 / 2rem 100% local, linear-gradient(to right, var(--line), transparent) 0 0 / 1rem 100%, linear-gradient(to left, var(--line), transparent) 100% 0 / 1rem 100%; background-repeat: no-repeat; }
math { font-size: 1.1em; font-family: "STIX Two Math", "Latin Modern Math", "Cambria Math", "XITS Math", "TeX Gyre Termes Math", "Libertinus Math", "DejaVu Math TeX Gyre", "Noto Sans Math", math, serif; }
.named { display: grid; grid-template-columns: 6rem minmax(0, 1fr); align-items: center; }
.named > span { color: var(--soft); } .named math { margin-left: 0; text-align: left; }
table { border-collapse: collapse; margin: .35rem 0; }
th { text-align: left; font-weight: 500; color: var(--soft); padding: .1rem 1.2rem .1rem 0; white-space: nowrap; vertical-align: top; } sub { line-height: 0; }
td { padding: .1rem 0; font-variant-numeric: tabular-nums; }
.parts { margin: .3rem 0 0 1rem; border-left: 3px solid var(--line); padding-left: 1rem; }
.parts article { border-top: none; padding: .35rem 0; }
details { margin-top: .4rem; } summary { cursor: pointer; color: var(--soft); font-size: .9rem; }
pre { background: var(--tint); border: 1px solid var(--line); border-radius: .4rem; padding: .8rem; overflow-x: auto; font: 13px/1.45 ui-monospace, "DejaVu Sans Mono", monospace; }
figure { margin: 1.5rem 0; } figure img { max-width: 100%; height: auto; display: block; margin: 0 auto; background: white; border-radius: .3rem; } figure iframe { width: 100%; height: 36rem; border: 0; }
figcaption b { color: var(--ink); }
footer p { border-top: 2px solid var(--ink); margin: 3rem 0; padding-top: .8rem; }
@media (max-width: 62rem) { .page { margin-left: 0; } body > nav { position: sticky; inset: 0 0 auto 0; width: auto; max-height: 40vh; z-index: 2; border-right: 0; border-bottom: 1px solid var(--line); padding: .5rem 1rem; } body > nav h2 { display: none; } body > nav ol { display: flex; flex-wrap: wrap; gap: 0 1rem; list-style: none; padding: 0; } body > nav .where { display: none; } body > nav br { display: none; } section, article, figure { scroll-margin-top: 9rem; } }
@media (max-width: 40rem) { article > div.head { flex-direction: column; gap: .2rem; } th { padding-right: .8rem; } math { font-size: 1em; } body > nav ol { flex-wrap: nowrap; overflow-x: auto; white-space: nowrap; margin-top: .3rem; } section, article, figure { scroll-margin-top: 6rem; } }
@media print { body > nav { display: none; } .page { margin-left: 0; } details:not([open]) { display: none; } article { break-inside: avoid; } }
"""

SCRIPT = """
const choice = document.querySelector(".filter select");
const show = (what) => { document.body.dataset.show = what; };
choice.addEventListener("change", () => show(choice.value));
addEventListener("hashchange", () => {
  const aim = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (aim && getComputedStyle(aim).display === "none") { choice.value = "all"; show("all"); aim.scrollIntoView(); }
});
"""
