import { z } from 'zod';
import type { Runners, Sessions } from '../sandbox/index.ts';
import { gauge } from './metrics.ts';
import type { Metrics, Sample } from './metrics.ts';
import { route, STREAMED } from './route.ts';
import type { Route } from './route.ts';

/** How Prometheus knows the format. */
const TEXT = 'text/plain; version=0.0.4; charset=utf-8';

export function metricsRoute(sessions: Sessions, runners: Runners, metrics: Metrics): Route {
  return route({
    method: 'GET',
    path: '/metrics',
    summary: 'Figures since the start of the server, as Prometheus reads them',
    isUnlimited: true,
    answer: z.string(),
    media: 'text/plain',
    handle: async ({ reply }) => {
      const text = metrics.text(await samples(sessions, runners));
      void reply.header('content-type', TEXT).send(text);
      return STREAMED;
    },
  });
}

async function samples(sessions: Sessions, runners: Runners): Promise<readonly Sample[]> {
  const open = sessions.list();
  const [states, load] = [await runners.states(), runners.load()];
  const spares = Object.values(sessions.spares()).reduce((sum, count) => sum + count, 0);
  const running = Object.values(states).filter((state) => state === 'running').length;
  const byLanguage = (value: (of: { running: number; waiting: number }) => number): Sample['values'] =>
    Object.entries(load).map(([language, of]) => [{ language }, value(of)]);
  return [
    gauge('mahabharatha_sessions_open', 'Open sessions of all users.', open.length),
    gauge('mahabharatha_sessions_busy', 'Of them, those that run a command.', [
      [{}, open.filter(({ busy }) => busy).length],
    ]),
    gauge('mahabharatha_containers', 'Containers of sessions, spare ones for sessions, and those of languages.', [
      [{ kind: 'session' }, open.length],
      [{ kind: 'spare' }, spares],
      [{ kind: 'language' }, running],
    ]),
    gauge(
      'mahabharatha_programs_running',
      'Programs of a language.',
      byLanguage((of) => of.running),
    ),
    gauge(
      'mahabharatha_programs_waiting',
      'Programs that wait for a place.',
      byLanguage((of) => of.waiting),
    ),
  ];
}
