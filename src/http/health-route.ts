import { bodies } from '../protocol/index.ts';
import type { Sessions } from '../sandbox/index.ts';
import { route } from './route.ts';
import type { Route } from './route.ts';

export function healthRoute(sessions: Sessions): Route {
  const started = performance.now();
  return route({
    method: 'GET',
    path: '/health',
    summary: 'Whether the server works',
    answer: bodies.health,
    handle: async () => ({
      status: 'ok' as const,
      sessions: sessions.list().length,
      uptime_seconds: Math.round((performance.now() - started) / 1000),
    }),
  });
}
