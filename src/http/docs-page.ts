import type { z } from 'zod';
import { z as zod } from 'zod';
import type { Route } from './route.ts';

const STYLE = `:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:58rem;margin:2rem auto;padding:0 1rem}
h2{margin-top:3rem;border-top:1px solid #8886;padding-top:1rem;font-size:1.1rem}h3{font-size:.9rem;margin:1rem 0 .2rem}
code,pre{font:13px/1.5 ui-monospace,monospace}pre{background:#8881;padding:.7rem;border-radius:6px;white-space:pre-wrap;overflow-wrap:anywhere}
b.method{display:inline-block;min-width:4.2em;font-family:ui-monospace,monospace}table{border-collapse:collapse;width:100%}
td{padding:.15rem .8rem .15rem 0;vertical-align:top;border-bottom:1px solid #8883}td:first-child{white-space:nowrap;width:13rem}td:nth-child(2){width:20rem}nav a{text-decoration:none}nav li{list-style:none}nav ul{padding:0}
small{opacity:.7}`;

interface Shape {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly additionalProperties?: Shape | boolean;
}

/** The endpoints for people: one page without scripts. */
export function docsPage(routes: readonly Route[], version: string): string {
  const sorted = routes.toSorted((one, other) => one.path.localeCompare(other.path));
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Mahabharatha: requests</title><style>${STYLE}</style></head><body>
<h1>Mahabharatha ${text(version)}</h1>
<p>Runs commands and programs in locked-down containers. <a href="/">Try it</a> · <a href="/openapi.json">OpenAPI document</a></p>
<p>Bodies and answers are JSON. An answer that is no success has <code>detail</code>, <code>code</code> and a <code>hint</code>. A server with tokens wants <code>Authorization: Bearer …</code>.</p>
<nav><ul>${sorted.map((route) => `<li><a href="#${anchor(route)}"><code>${title(route)}</code></a> <small>${text(route.summary)}</small></li>`).join('')}</ul></nav>
${sorted.map(section).join('\n')}
</body></html>`;
}

/** What of the page's style a browser may use. */
export const docsStyle = STYLE;

function section(route: Route): string {
  const { summary, body, query, answer, streams = [], refusals = {} } = route;
  const others = Object.entries({
    400: 'BODY_INVALID',
    401: 'TOKEN_REFUSED',
    503: 'BODIES_FULL, ANSWERS_FULL',
    ...refusals,
  });
  return [
    `<h2 id="${anchor(route)}"><code>${title(route)}</code></h2><p>${text(summary)}.</p>`,
    `<pre>${text(curl(route))}</pre>`,
    query === undefined ? '' : `<h3>Query</h3>${fields(shapeOf(query))}`,
    body === undefined ? '' : `<h3>Body</h3>${fields(shapeOf(body))}`,
    `<h3>Answer</h3>${fields(shapeOf(answer))}`,
    ...streams.map((type) => `<p>With <code>Accept: ${text(type)}</code> the answer is streamed.</p>`),
    `<h3>Refusals</h3><p>${others.map(([status, why]) => `${status} <code>${text(why)}</code>`).join(' · ')}</p>`,
  ].join('\n');
}

const title = ({ method, path }: Route): string =>
  `<b class="method">${method}</b> ${text(path.replaceAll(/:(\w+)/g, '{$1}'))}`;
const anchor = ({ method, path }: Route): string => `${method}${path}`.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
const shapeOf = (schema: z.ZodType): Shape => zod.toJSONSchema(schema, { io: 'input' }) as Shape;

function fields(shape: Shape): string {
  const { properties, required = [], anyOf } = shape;
  if (anyOf !== undefined) return anyOf.map(fields).join('<p>or</p>');
  if (properties === undefined) return `<p>${text(typeOf(shape))}</p>`;
  const rows = Object.entries(properties).map(
    ([name, each]) =>
      `<tr><td><code>${text(name)}</code></td><td>${text(typeOf(each))}${required.includes(name) ? '' : ' <small>may be left out</small>'}</td><td>${text(each.description ?? '')}</td></tr>`,
  );
  return rows.length === 0 ? '<p>nothing</p>' : `<table>${rows.join('')}</table>`;
}

function typeOf(shape: Shape): string {
  if (shape.const !== undefined) return JSON.stringify(shape.const);
  if (shape.enum !== undefined) return shape.enum.map((value) => JSON.stringify(value)).join(' or ');
  if (shape.anyOf !== undefined) return shape.anyOf.map(typeOf).join(' or ');
  if (shape.type === 'array') return `list of ${typeOf(shape.items ?? {})}`;
  if (shape.type !== 'object') return shape.type ?? 'any';
  if (shape.properties === undefined) return 'names and values';
  return `{ ${Object.entries(shape.properties)
    .map(([name, each]) => `${name}: ${typeOf(each)}`)
    .join(', ')} }`;
}

/** A request to begin with. */
function curl(route: Route): string {
  const { method, path, body } = route;
  const place = `localhost:8000${path.replace(':id', '$session').replace(':language', 'python')}`;
  if (body === undefined) return `curl -s${method === 'GET' ? '' : ` -X ${method}`} "${place}"`;
  const { properties = {}, required = [] } = shapeOf(body);
  const wanted = required.length === 0 ? Object.keys(properties).slice(0, 1) : required;
  const sample = Object.fromEntries(wanted.map((name) => [name, sampleOf(properties[name] ?? {})]));
  return `curl -s "${place}" -H 'content-type: application/json' -d '${JSON.stringify(sample)}'`;
}

function sampleOf({ type, items, properties = {}, required = [], enum: values = [] }: Shape): unknown {
  if (values.length > 0) return values[0];
  if (type === 'array') return [sampleOf(items ?? {})];
  if (type === 'object') return Object.fromEntries(required.map((name) => [name, sampleOf(properties[name] ?? {})]));
  return type === 'string' ? '…' : 1;
}

const text = (raw: string): string =>
  raw.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
