import type { FastifyInstance } from 'fastify';
import type { Config } from '../config/index.ts';
import { guardingOf } from '../guard/index.ts';
import type { Runners, Sessions } from '../sandbox/index.ts';
import { createAdmission } from './admission.ts';
import { execSocket, execSocketRoute } from './exec-socket.ts';
import { healthRoute } from './health-route.ts';
import type { ServerLog } from './log.ts';
import type { Metrics } from './metrics.ts';
import { metricsRoute } from './metrics-route.ts';
import { addPages } from './pages.ts';
import { pistonRoutes } from './piston-routes.ts';
import { runnerRoutes } from './runner-routes.ts';
import { createServer } from './server.ts';
import { sessionRoutes } from './session-routes.ts';
import { addSocketRoute } from './web-socket.ts';

interface SurfaceRequest {
  readonly settings: Config['serve'];
  /** Users by token; null: every request is answered. */
  readonly tokens: ReadonlyMap<string, string> | null;
  readonly version: string;
  readonly log: ServerLog;
}

interface Behind {
  readonly sessions: Sessions;
  readonly runners: Runners;
  readonly metrics: Metrics;
  /** Of a program of a language. */
  readonly timeoutMs: number;
  readonly memoryBytes: number;
}

/** All that can be asked of a server. */
export function createSurface(request: SurfaceRequest, behind: Behind): FastifyInstance {
  const { settings, version, log } = request;
  const { sessions, runners, metrics, timeoutMs, memoryBytes } = behind;
  const { limits } = settings;
  const guarding = guardingOf(settings.host, request.tokens, settings.cors);
  const admission = createAdmission(sessions, { user: limits.user_requests, project: limits.project_requests });
  const routes = [
    healthRoute(sessions, runners),
    metricsRoute(sessions, runners, metrics),
    ...runnerRoutes(runners, timeoutMs),
    ...pistonRoutes(runners, { timeoutMs, memoryBytes }),
    ...sessionRoutes(sessions, admission),
    execSocketRoute(),
  ];
  const server = createServer({ routes, guarding, admission, version, log });
  server.addHook('onResponse', async (_, { statusCode }) => metrics.answered(statusCode));
  addPages(server, routes, version);
  addSocketRoute(server, guarding, execSocket(sessions, admission));
  return server;
}
