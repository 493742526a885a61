import * as bodies from './bodies.ts';
import type { Runners, Sessions } from '../sandbox/index.ts';
import { route } from './route.ts';
import type { Route } from './route.ts';

export function healthRoute(sessions: Sessions, runners: Runners): Route {
  const started = performance.now();
  return route({
    method: 'GET',
    path: '/health',
    isUnlimited: true,
    summary: 'Whether the server and the containers of its languages work',
    answer: bodies.health,
    handle: async () => {
      const containers = await runners.states();
      const isDegraded = Object.values(containers).includes('stopped');
      return {
        status: isDegraded ? ('degraded' as const) : ('ok' as const),
        containers,
        sessions: sessions.list().length,
        warm: sessions.spares(),
        uptime_seconds: Math.round((performance.now() - started) / 1000),
      };
    },
  });
}
