import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { FastifyInstance } from 'fastify';
import { docsPage, docsStyle } from './docs-page.ts';
import { programFile } from '../project/index.ts';
import type { Route } from './route.ts';
import { tryPage } from './try-page.ts';

/** Nothing may be loaded, run, sent or framed; of the page's own parts, what is named beside it. */
const NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** What people look at in a browser. A browser has no token for it, and it holds no secret. */
export function addPages(server: FastifyInstance, routes: readonly Route[], version: string): void {
  const docs = docsPage(routes, version);
  const [script, style] = [readPart('page.js'), readPart('xterm.css')];
  server.get('/docs', { config: { isForEveryone: true } }, (_, reply) =>
    reply.headers(pageHeaders(`style-src ${hashOf(docsStyle)}`)).send(docs),
  );
  server.get('/', { config: { isForEveryone: true } }, (_, reply) => {
    // The editor and the terminal write style elements of their own.
    const nonce = randomBytes(16).toString('base64url');
    const allowed = `script-src ${hashOf(script)}; style-src 'nonce-${nonce}'; connect-src 'self'`;
    return reply.headers(pageHeaders(allowed)).send(tryPage({ script, style, nonce }));
  });
}

/** A part of the page as it may stand in an element: it cannot end that, and has no sign that a browser would change. */
const readPart = (file: string): string =>
  readFileSync(path.join(path.dirname(programFile('page')), file), 'utf8').replaceAll(
    /<(?=\/(script|style)|!--)|[^\P{Cc}\t\n]/giu,
    (sign) => `\\x${sign.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );

const hashOf = (part: string): string => `'sha256-${createHash('sha256').update(part).digest('base64')}'`;

function pageHeaders(allowed: string): Record<string, string> {
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `${NOTHING}; ${allowed}`,
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cache-control': 'no-cache',
  };
}
