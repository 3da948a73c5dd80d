// How the memory page looks, in light and dark.
#pragma once

namespace rw::memory {

inline constexpr const char* kMemoryPageStyle = R"css(
:root {
  color-scheme: light dark;
  --page: #ffffff; --ink: #1c2024; --soft: #5f6770; --rule: #e3e6ea; --card: #f5f6f8;
  --held: #b9c0c9; --states: #8b6fd6; --kept: #3b82c4; --again: #e58a2e; --spilled: #4a9d6a; --budget: #c8312f;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171a; --ink: #e8eaed; --soft: #9aa3ad; --rule: #2b3036; --card: #1d2126;
    --held: #59626d; --states: #9d85e0; --kept: #5b9fdb; --again: #f0a04b; --spilled: #63b985; --budget: #ff6b66;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1040px; margin: 0 auto; padding: 28px 20px 60px; }
h1 { font-size: 24px; margin: 0 0 16px; overflow-wrap: anywhere; }
h2 { font-size: 17px; margin: 36px 0 6px; }
p { margin: 4px 0 8px; color: var(--soft); }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(128px, 1fr)); gap: 10px; margin: 0; }
dl div { background: var(--card); border-radius: 8px; padding: 10px 12px; }
dt { color: var(--soft); font-size: 12.5px; }
dd { margin: 2px 0 0; font-size: 18px; font-weight: 600; font-variant-numeric: tabular-nums; }
svg { display: block; width: 100%; height: auto; }
.grid { stroke: var(--rule); }
.tick, .note { fill: var(--soft); font-size: 12px; font-variant-numeric: tabular-nums; }
.note { fill: var(--budget); font-weight: 600; }
.end { text-anchor: end; }
.middle { text-anchor: middle; }
.held { fill: var(--held); background: var(--held); }
.states { fill: var(--states); background: var(--states); }
.kept { fill: var(--kept); background: var(--kept); }
.again { fill: var(--again); background: var(--again); }
.spilled { fill: var(--spilled); background: var(--spilled); }
.budget { stroke: var(--budget); stroke-width: 2; stroke-dasharray: 7 5; }
.curve { fill: none; stroke: var(--kept); stroke-width: 2; }
.point { fill: var(--kept); stroke: var(--page); stroke-width: 1.5; }
.own { fill: none; stroke: var(--again); stroke-width: 2.5; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; font-size: 13px; }
i { display: inline-block; width: 11px; height: 11px; border-radius: 3px; margin-right: 6px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; }
th { text-align: left; color: var(--soft); font-weight: 500; }
th, td { padding: 5px 14px 5px 0; border-bottom: 1px solid var(--rule); white-space: nowrap; }
.num { text-align: right; font-variant-numeric: tabular-nums; }
.code { font-family: ui-monospace, monospace; font-size: 12.5px; }
)css";

}  // namespace rw::memory
