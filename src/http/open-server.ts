import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config/index.ts';
import type { Engine } from '../engines/index.ts';
import { listenError } from '../guard/index.ts';
import { repeat } from '../lib/index.ts';
import type { Environment, HeldFolder } from '../lib/index.ts';
import { programFile } from '../project/index.ts';
import {
  createRunners,
  createSessions,
  fetchRuntimes,
  imageFetcher,
  openHome,
  openHomeFolder,
  openNetwork,
  sessionCaches,
} from '../sandbox/index.ts';
import type { Runners, Sessions } from '../sandbox/index.ts';
import type { ServerLog } from './log.ts';
import { createMetrics } from './metrics.ts';
import type { Metrics } from './metrics.ts';
import { cachesHome, homeLabels, serversHome, tellAddress } from './servers-home.ts';
import { runtimesOf, sessionSettings } from './session-settings.ts';
import { createSurface } from './surface.ts';
import { watchedContainers, watchedRunners, watchedSessions } from './watched.ts';

const MB = 1024 ** 2;
/** How often idle ones are looked for. */
const SESSION_LOOK_MS = 30_000;
const RUNNER_LOOK_MS = 5 * 60_000;
/** Of the container of a language, and of one program. */
const PROGRAM = {
  limits: { cpus: 0.5, memoryBytes: 256 * MB, diskBytes: 64 * MB, processes: 64 },
  timeoutMs: 10_000,
  outputBytes: 10 * 1024,
  idleMs: 30 * 60_000,
} as const;
interface ServerRequest {
  readonly engine: Engine;
  /** The image with Node and the sandbox agent. */
  readonly runtimeImage: { readonly tag: string; readonly id: string };
  readonly settings: Config['serve'];
  /** Null: every request is answered. */
  readonly tokens: ReadonlyMap<string, string> | null;
  readonly version: string;
  readonly env: Environment;
  readonly onNote: (note: string) => void;
  /** Something that it offers is not there; it goes on. */
  readonly onProblem: (error: Error) => void;
  /** A line of the progress of fetching this image. */
  readonly onPull: (image: string, line: string) => void;
  readonly log: ServerLog;
  /** Calls the start off. */
  readonly signal: AbortSignal;
}

export interface OpenServer {
  readonly address: string;
  close(): Promise<void>;
}

/** Starts to listen when everything that it needs is there. */
export async function openServer(request: ServerRequest): Promise<OpenServer> {
  const { settings } = request;
  const closing: (() => Promise<unknown>)[] = [];
  const close = (): Promise<void> => closeAll(closing);
  try {
    const metrics = createMetrics();
    closing.push(async () => metrics.close());
    const { own, ...sandboxes } = await openSandboxes(request, metrics, closing);
    const { timeoutMs, limits } = PROGRAM;
    const behind = { ...sandboxes, metrics, timeoutMs, memoryBytes: limits.memoryBytes };
    const server = createSurface(request, behind);
    closing.push(() => server.close());
    const address = await listen(server, settings);
    await tellAddress(own, address);
    return { address, close };
  } catch (error) {
    await close().catch((problem: unknown) => request.log.error('not closed', { problem: String(problem) }));
    throw error;
  }
}

/** One after the other, from the last to the first; the first failure is thrown when all are done. */
async function closeAll(steps: (() => Promise<unknown>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps.splice(0).toReversed()) await step().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

async function openSandboxes(
  { engine, env, settings, runtimeImage, onNote, onPull, onProblem, signal, log }: ServerRequest,
  metrics: Metrics,
  closing: (() => Promise<unknown>)[],
): Promise<{ readonly own: HeldFolder; readonly sessions: Sessions; readonly runners: Runners }> {
  const labels = homeLabels(env);
  const place = await openHomeFolder({ engine, kind: 'server', folder: serversHome(env), labels, onNote });
  const { owner, own } = place;
  closing.push(own.remove);
  const asked = { allow: settings.network.allow, env, owner, image: runtimeImage.id, onNote };
  const network = openNetwork(asked, closing);
  const known = { engine, runtimeImage, sweeper: programFile('sweeper'), env, egress: network.egress };
  const opened = await openHome(place, known, closing);
  const home = { ...opened, containers: watchedContainers(opened.containers, log) };
  const wishes = sessionSettings(settings);
  const caching = { folder: cachesHome(env), labels, image: runtimeImage.tag, users: home.users };
  const caches = sessionCaches({ engine, ...caching });
  (await caches.removeOld()).forEach(onNote);
  const watch = { log, metrics };
  const sessions = watchedSessions(createSessions({ home, network, caches, lacks: home.lacks }, wishes), watch);
  const runners = watchedRunners(createRunners(home, { ...PROGRAM, languages: settings.languages }), watch);
  closing.push(sessions.closeAll, runners.closeAll);
  const fetch = imageFetcher(engine, { onLine: onPull, signal });
  const problems = await Promise.all([runners.boot(fetch), fetchRuntimes(fetch, runtimesOf(settings))]);
  signal.throwIfAborted();
  problems.flat().forEach(onProblem);
  sessions.warmUp();
  const onFailure = (error: unknown): void => log.error('look failed', { problem: String(error) });
  const timers = [
    repeat(SESSION_LOOK_MS, sessions.expire, onFailure),
    repeat(RUNNER_LOOK_MS, runners.expire, onFailure),
  ];
  closing.push(async () => timers.forEach((timer) => timer.cancel()));
  return { own, sessions, runners };
}

async function listen(
  server: FastifyInstance,
  { host, port }: Pick<Config['serve'], 'host' | 'port'>,
): Promise<string> {
  try {
    await server.listen({ host, port });
  } catch (error) {
    throw listenError(error, { host, port });
  }
  const { port: taken } = server.server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${taken}`;
}
