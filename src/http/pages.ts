import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { docsPage, docsStyle } from './docs-page.ts';
import type { Route } from './route.ts';

/** Nothing may be loaded, run, sent or framed; of the page's own parts, what is named beside it. */
const NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** What people look at in a browser. A browser has no token for it, and it holds no secret. */
export function addPages(server: FastifyInstance, routes: readonly Route[], version: string): void {
  const docs = docsPage(routes, version);
  server.get('/docs', { config: { isForEveryone: true } }, (_, reply) =>
    reply.headers(pageHeaders(`style-src ${hashOf(docsStyle)}`)).send(docs),
  );
}

export const hashOf = (part: string): string => `'sha256-${createHash('sha256').update(part).digest('base64')}'`;

export function pageHeaders(allowed: string): Record<string, string> {
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `${NOTHING}; ${allowed}`,
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cache-control': 'no-cache',
  };
}
