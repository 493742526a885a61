/** Of the page. Colours say nothing alone: a failed span is striped, and all is in the tables too. */
export const STYLE = `
:root { color-scheme: light dark; --line: #8884; --good: #2a7d46; --bad: #b3261e; --dim: #707070;
  --failed: #b3261e; --work: #3d6fb4; --verification: #7f9fce; --gates: #a9812f; --set-up: #767676; }
@media (prefers-color-scheme: dark) { :root { --good: #6cc58a; --bad: #ff8a80; --dim: #a0a0a0; } }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; }
dt { color: var(--dim); } dd { margin: 0; overflow-wrap: anywhere; }
.status { font-weight: 600; } .complete { color: var(--good); } .failed, .blocked { color: var(--bad); }
.trouble, .warning { overflow-wrap: anywhere; margin: .3rem 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; min-width: 44rem; }
th, td { text-align: left; vertical-align: top; padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--line);
  overflow-wrap: anywhere; }
th { color: var(--dim); font-weight: 400; } th, td .status { white-space: nowrap; } .number { white-space: nowrap; } .id { font-family: ui-monospace, monospace; font-size: .9em; white-space: nowrap; }
ol { margin: .3rem 0; padding-left: 1.6rem; color: var(--dim); }
.row { display: flex; align-items: stretch; }
.name { flex: none; width: 6rem; position: sticky; left: 0; background: Canvas; z-index: 2; line-height: 1.6rem; white-space: nowrap; }
.track { position: relative; flex: 1; height: 1.6rem; border-bottom: 1px solid var(--line); overflow: hidden; }
.ticks .track { border: 0; } .ticks span { position: absolute; font-size: .75rem; color: var(--dim); white-space: nowrap; border-left: 1px solid var(--line); padding-left: .2rem; }
.ticks .pause { transform: translateX(-50%); border: 0; background: Canvas; }
.track > div.pause { position: absolute; top: 0; bottom: 0; border-left: 2px dotted var(--dim); }
.span { position: absolute; top: .15rem; bottom: .15rem; min-width: 3px; box-sizing: border-box; border-right: 1px solid Canvas;
  border-radius: 2px; color: #fff; font-size: .72rem; line-height: 1.3rem; padding: 0 .2rem; overflow: hidden; white-space: nowrap; text-overflow: clip; }
.work { background-color: var(--work); } .verification { background-color: var(--verification); } .gates { background-color: var(--gates); }
.set-up { background-color: var(--set-up); }
.bad { background-color: var(--failed); background-image: repeating-linear-gradient(45deg, #0000 0 4px, #0004 4px 8px); }
.open { opacity: .55; }
.legend { color: var(--dim); display: flex; flex-wrap: wrap; gap: 0 .8rem; }
.legend i { display: inline-block; width: 1.2rem; height: .8rem; border-radius: 2px; vertical-align: baseline; }
@media print { .wide { overflow: visible; } .timeline { min-width: 0 !important; } }
`.trim();
