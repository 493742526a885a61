const STYLE = `:root{color-scheme:light;--line:#d5d9e0;--soft:#5b6472}*{box-sizing:border-box}
body{margin:0;font:15px/1.45 system-ui,sans-serif;color:#1b1f24;background:#f6f7f9}
header{display:flex;flex-wrap:wrap;gap:.5rem 1.2rem;align-items:center;padding:.7rem 1.2rem;background:#fff;border-bottom:1px solid var(--line)}
h1{font-size:1.05rem;margin:0}h2{font-size:.95rem;margin:0}#state{color:var(--soft);flex:1}
#state::before{content:"";display:inline-block;width:.6em;height:.6em;border-radius:50%;background:#9aa3af;margin-right:.45em}
#state[data-status=ok]::before{background:#1a9c50}#state[data-status=degraded]::before{background:#d99200}#state[data-status=away]::before{background:#cc3340}
main{display:grid;gap:1rem;padding:1rem 1.2rem;max-width:100rem;margin:auto}section{background:#fff;border:1px solid var(--line);border-radius:8px;padding:.9rem;min-width:0}
.bar{display:flex;flex-wrap:wrap;gap:.6rem;align-items:center;margin-bottom:.7rem}.bar span{color:var(--soft)}
button,select,input{font:inherit;padding:.25rem .7rem;border:1px solid #b9c0ca;border-radius:6px;background:#fff}
button{cursor:pointer}button.main{background:#2457c5;border-color:#2457c5;color:#fff}button:disabled{opacity:.5}
#editor{border:1px solid var(--line);border-radius:6px;overflow:auto;height:16rem}#editor .cm-editor{height:100%}
.streams{display:grid;grid-template-columns:1fr 1fr;gap:.8rem;margin-top:.7rem}@media(max-width:45rem){.streams{grid-template-columns:1fr}}
.streams label{color:var(--soft);font-size:.85rem}pre{margin:.2rem 0 0;padding:.6rem;min-height:5rem;max-height:18rem;overflow:auto;background:#f6f7f9;border:1px solid var(--line);border-radius:6px;white-space:pre-wrap;overflow-wrap:anywhere;font:13px/1.45 ui-monospace,monospace}
#stderr{color:#a3222e}#figures[data-ok=true]{color:#137a3d}#figures[data-ok=false]{color:#a3222e}
#terminal{background:#16181d;border-radius:6px;padding:.5rem;height:22rem;overflow:hidden}`;

/** The page to try the server with: all of it in one answer. */
export function tryPage(parts: { readonly script: string; readonly style: string; readonly nonce: string }): string {
  const { script, style, nonce } = parts;
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Mahabharatha</title><style nonce="${nonce}">${style}${STYLE}</style></head><body>
<header><h1>Mahabharatha</h1><span id="state" role="status">…</span><form id="who"><label>Token <input id="token" type="password" size="24" autocomplete="off" placeholder="if the server wants one"></label></form><a href="/docs">Requests</a></header>
<main><section><div class="bar"><h2>Program</h2><select id="language" aria-label="language"></select><button id="run" class="main">Run</button><span id="figures" role="status"></span></div>
<div id="editor"></div><div class="streams"><div><label>stdout</label><pre id="stdout"></pre></div><div><label>stderr</label><pre id="stderr"></pre></div></div></section>
<section><div class="bar"><h2>Session</h2><input id="runtime" list="runtimes" value="shell" size="10" aria-label="runtime"><datalist id="runtimes"><option value="node"><option value="python"><option value="shell"></datalist><button id="open" class="main">Open</button><button id="end">End</button><span id="session-state" role="status"></span></div>
<div id="terminal"></div></section></main><script>${script}</script></body></html>`;
}
