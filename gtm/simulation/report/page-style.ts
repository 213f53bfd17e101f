/** The style sheet of the page: light and dark, wide and narrow, nothing from elsewhere. */

export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --ground: #fcfcfb; --sheet: #ffffff; --ink: #1b1b19; --soft: #5d5c57; --faint: #e4e3de; --shade: #00000009;
  --ours: #2a78d6; --rival: #d95926; --other: #b9b8b0; --oracle: #5d5c57;
  --better: 42 120 214; --worse: 214 69 60;
  --region-0: #2a78d6; --region-1: #1a9a6c; --region-2: #d08a00; --region-3: #7a4cc2; --region-4: #c2417c; --region-5: #5f7a1f;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #161615; --sheet: #1e1e1c; --ink: #eceae4; --soft: #a5a39b; --faint: #34332f; --shade: #ffffff0b;
    --ours: #5aa0ee; --rival: #ef7d4f; --other: #5b5a54; --oracle: #a5a39b;
    --better: 70 140 230; --worse: 226 92 80;
    --region-0: #5aa0ee; --region-1: #35b585; --region-2: #d9a13a; --region-3: #a98be8; --region-4: #e17aa8; --region-5: #9cb558;
  }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem clamp(0.8rem, 3vw, 2.5rem) 4rem; max-width: 1500px; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 0.3rem; } h2 { font-size: 1.2rem; margin: 2.2rem 0 0.5rem; } h3 { font-size: 0.95rem; margin: 0 0 0.2rem; }
p { margin: 0.3rem 0; max-width: 85ch; } .soft, figcaption, .setting { color: var(--soft); }
.setting, figcaption, .note { font-size: 0.85rem; }
a { color: var(--ours); }
details { background: var(--sheet); border: 1px solid var(--faint); border-radius: 8px; margin: 0.7rem 0; }
summary { cursor: pointer; padding: 0.6rem 0.9rem; display: flex; flex-wrap: wrap; gap: 0.2rem 1rem; align-items: baseline; list-style: none; }
summary::-webkit-details-marker { display: none; }
summary::before { content: "▸"; color: var(--soft); } details[open] > summary::before { content: "▾"; }
summary strong { font-size: 1.02rem; } summary .outcome { margin-left: auto; font-variant-numeric: tabular-nums; }
.inside { padding: 0 0.9rem 0.9rem; }
.plots { display: grid; grid-template-columns: 1fr; gap: 1rem 2rem; margin: 0.9rem 0; }
figure { margin: 0; min-width: 0; } figure svg { width: 100%; height: auto; display: block; max-width: 620px; }
figure.wide { overflow-x: auto; } figure.wide svg { max-width: 860px; min-width: 520px; }
svg text { font-family: inherit; fill: var(--ink); } svg .tick { font-size: 11px; fill: var(--soft); } svg .axis { font-size: 11.5px; fill: var(--soft); }
svg .said { font-size: 11px; paint-order: stroke; stroke: var(--sheet); stroke-width: 4px; stroke-linejoin: round; }
svg .label { font-size: 12px; font-variant-numeric: tabular-nums; }
svg .grid { stroke: var(--faint); } svg .zero { stroke: var(--soft); } svg .warm-up { fill: var(--shade); } svg .mark { stroke: var(--soft); stroke-dasharray: 2 3; }
svg .line { fill: none; stroke-width: 1.4; stroke-linejoin: round; } svg .line:hover { stroke-width: 3.5; }
.line.ours { stroke: var(--ours); stroke-width: 2.6; } .line.rival { stroke: var(--rival); stroke-width: 2.2; }
.line.other { stroke: var(--other); } .line.oracle { stroke: var(--oracle); stroke-dasharray: 5 3; }
${[0, 1, 2, 3, 4, 5].map((at) => `.line.region-${at} { stroke: var(--region-${at}); stroke-width: 2; } .key.region-${at} { background: var(--region-${at}); }`).join("\n")}
.whisker { stroke-width: 2; stroke: var(--soft); } .dot { fill: var(--soft); }
.whisker.better { stroke: var(--ours); } .dot.better { fill: var(--ours); } .whisker.worse { stroke: var(--rival); } .dot.worse { fill: var(--rival); }
.legend { display: flex; flex-wrap: wrap; gap: 0.1rem 1rem; margin: 0.2rem 0 0.4rem; font-size: 0.85rem; }
.key { display: inline-block; width: 1.1rem; height: 3px; border-radius: 2px; margin-right: 0.4rem; vertical-align: middle; }
.key.ours { background: var(--ours); } .key.rival { background: var(--rival); } .key.other { background: var(--other); }
.key.oracle { background: repeating-linear-gradient(90deg, var(--oracle) 0 5px, transparent 5px 8px); }
.scroll { overflow-x: auto; margin: 0.6rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.86rem; }
th, td { padding: 0.22rem 0.6rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--faint); }
th { font-weight: 600; color: var(--soft); vertical-align: bottom; } th[title] { cursor: help; }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0; background: var(--ground); }
details th:first-child, details td:first-child { background: var(--sheet); }
tr.ours td { font-weight: 650; } tr.oracle td { font-style: italic; color: var(--soft); }
.matrix td { min-width: 4.2rem; } .matrix th { white-space: normal; }
.matrix td.better { background: rgb(var(--better) / var(--depth)); } .matrix td.worse { background: rgb(var(--worse) / var(--depth)); }
.matrix td.grows { color: var(--soft); font-style: italic; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.15rem 1rem; font-size: 0.86rem; } dt { font-weight: 600; } dd { margin: 0; max-width: 90ch; color: var(--soft); }
@media (min-width: 760px) { .plots { grid-template-columns: 1fr 1fr; } }
@media (max-width: 560px) { body { font-size: 14px; } summary .outcome { margin-left: 0; width: 100%; } th, td { padding: 0.2rem 0.4rem; } dl { grid-template-columns: 1fr; } dd { margin-bottom: 0.35rem; } }
@media print { details { break-inside: avoid; } }
`;
