import type { Containers } from '../containers/index.ts';
import { AppError } from '../lib/index.ts';
import type { Executed, Ran, Runners, Sessions } from '../sandbox/index.ts';
import type { ServerLog } from './log.ts';
import type { Metrics, Outcome } from './metrics.ts';
import { exitCode, megabytes } from './program-end.ts';

interface Watch {
  readonly log: ServerLog;
  readonly metrics: Metrics;
}

/** The same sessions; what happens in them is logged and counted. */
export function watchedSessions(sessions: Sessions, watch: Watch): Sessions {
  const { log } = watch;
  const open = (): string[] => sessions.list().map(({ id }) => id);
  return {
    ...sessions,
    create: async (...given) => {
      const began = performance.now();
      const facts = await sessions.create(...given);
      const { id: session, project, runtime } = facts;
      log.info('session opened', { session, project, runtime, ms: since(began) });
      return facts;
    },
    exec: (...given) => timed(watch, 'session', { session: given[0] }, () => sessions.exec(...given)),
    destroy: async (session) => {
      await sessions.destroy(session);
      log.info('session ended', { session, why: 'asked' });
    },
    expire: async () => {
      const before = open();
      await sessions.expire();
      const ended = before.filter((session) => !open().includes(session));
      log.debug('looked for idle sessions', { open: before.length, ended: ended.length });
      for (const session of ended) log.info('session ended', { session, why: 'idle' });
    },
  };
}

/** The same runners; what happens in them is logged and counted. */
export function watchedRunners(runners: Runners, watch: Watch): Runners {
  return {
    ...runners,
    run: (...given) => timed(watch, given[0], {}, () => runners.run(...given)),
    expire: async () => {
      await runners.expire();
      watch.log.debug('looked for idle containers of languages');
    },
  };
}

/** The same containers; their starts and stops are logged. */
export function watchedContainers(containers: Containers, log: ServerLog): Containers {
  return {
    ...containers,
    start: async (...given) => {
      const began = performance.now();
      const [{ image, role }, info] = await Promise.all([given[0], containers.start(...given)]);
      log.info('container started', { container: info.id.slice(0, 12), image, role, ms: since(began) });
      return info;
    },
    stop: async (...given) => {
      const stopped = await containers.stop(...given);
      log.info('container stopped', { container: given[0].id.slice(0, 12) });
      return stopped;
    },
  };
}

async function timed<End extends Executed | Ran>(
  { log, metrics }: Watch,
  kind: string,
  facts: Readonly<Record<string, string>>,
  work: () => Promise<End>,
): Promise<End> {
  const began = performance.now();
  try {
    const end = await work();
    const outcome = outcomeOf(end);
    metrics.executed(kind, outcome, since(began));
    const figures = { exit_code: exitCode(end), cpu_ms: Math.round(end.cpuMs), memory_mb: megabytes(end.peakBytes) };
    log.info('executed', { kind, ...facts, outcome, ms: since(began), ...figures });
    return end;
  } catch (error) {
    const code = error instanceof AppError ? error.code : isGone(error) ? 'CLIENT_GONE' : 'INTERNAL';
    const outcome = isGone(error) ? 'killed' : error instanceof AppError && error.exit === 2 ? 'refused' : 'error';
    // Names that a client has made up would be kept for ever.
    if (code !== 'LANGUAGE_UNKNOWN') metrics.executed(kind, outcome, since(began));
    log.info('not executed', {
      kind: code === 'LANGUAGE_UNKNOWN' ? 'unknown' : kind,
      ...facts,
      outcome,
      code,
      ms: since(began),
    });
    throw error;
  }
}

/** Its client went away before it was begun. */
const isGone = (error: unknown): boolean => error instanceof Error && error.name === 'AbortError';

function outcomeOf(end: Executed | Ran): Outcome {
  if (end.endedBy === 'timeout') return 'timeout';
  if (end.outOfMemory) return 'out_of_memory';
  if (end.endedBy === 'killed') return 'killed';
  return end.code === 0 ? 'ok' : 'failed';
}

const since = (began: number): number => Math.round((performance.now() - began) * 10) / 10;
