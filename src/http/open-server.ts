import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { LABEL, createContainers, removeOrphans, sweeperStarter } from '../containers/index.ts';
import type { Owner } from '../containers/index.ts';
import type { Config } from '../config/index.ts';
import type { Engine } from '../engines/index.ts';
import { startTimer, systemCode } from '../lib/index.ts';
import type { AppError, Environment } from '../lib/index.ts';
import { programFile } from '../project/index.ts';
import { createSessions, DEFAULT_RUNTIMES, runtimeVolume } from '../sandbox/index.ts';
import type { Runtimes, Sessions } from '../sandbox/index.ts';
import { httpErrors } from './errors.ts';
import { healthRoute } from './health-route.ts';
import { createServer } from './server.ts';
import { clearGoneServers, isServerAlive, makeServerFolder, serversHome } from './server-folder.ts';
import type { ServerFolder } from './server-folder.ts';
import { sessionRoutes } from './session-routes.ts';

/** What programs in a sandbox run as: no user of a usual system. */
const UID = 70_000;
/** How often idle sessions are looked for. */
const EXPIRY_MS = 30_000;
/** The folder of the servers of one user, on everything that they have in the engine. */
const HOME_LABEL = 'mahabharatha.servers';

interface ServerRequest {
  readonly engine: Engine;
  /** The image with Node and the sandbox agent. */
  readonly runtimeImage: { readonly tag: string; readonly id: string };
  readonly settings: Config['serve'];
  /** Null: whoever reaches the server may use it. */
  readonly tokens: ReadonlyMap<string, string> | null;
  readonly version: string;
  readonly env: Environment;
  readonly onNote: (note: string) => void;
  readonly onFault: (error: AppError) => void;
}

export interface OpenServer {
  readonly address: string;
  close(): Promise<void>;
}

/** Starts to listen when everything that it needs is there. */
export async function openServer(request: ServerRequest): Promise<OpenServer> {
  const { engine, env, settings } = request;
  const labels = { [LABEL.kind]: 'server', [HOME_LABEL]: serversHome(env) };
  const left = await removeOrphans(engine, { labels, isAlive: ({ id }) => isServerAlive(env, id) });
  left.forEach(request.onNote);
  await clearGoneServers(env);
  const own = await makeServerFolder(env);
  const closing: (() => Promise<unknown>)[] = [own.remove];
  const close = async (): Promise<void> => {
    for (const step of closing.splice(0).toReversed()) await step();
  };
  try {
    const sessions = await openSessions(request, own, closing);
    const server = createServer({
      routes: [healthRoute(sessions), ...sessionRoutes(sessions)],
      guarding: { tokens: request.tokens, origins: settings.cors, isPublic: request.tokens !== null },
      version: request.version,
      onFault: request.onFault,
    });
    closing.push(() => server.close());
    const address = await listen(server, settings);
    return { address, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openSessions(
  { engine, env, settings, runtimeImage }: ServerRequest,
  own: ServerFolder,
  closing: (() => Promise<unknown>)[],
): Promise<Sessions> {
  const owner: Owner = {
    id: own.id,
    kind: 'server',
    labels: { [HOME_LABEL]: serversHome(env) },
    leaseFolder: own.folder,
    egressLog: path.join(own.folder, 'egress.jsonl'),
  };
  const sweeper = { program: programFile('sweeper'), lock: own.lock, leaseMs: 0, folder: own.folder, env };
  const startSweeper = sweeperStarter(sweeper);
  const containers = createContainers({ engine, egress: null, volumes: [], startSweeper });
  closing.push(() => containers.sweep(owner.id));
  const runtime = await runtimeVolume(engine, runtimeImage);
  const { limits } = settings;
  const sessions = createSessions(
    engine,
    { owner, containers, runtime },
    {
      runtimes: runtimesOf(settings),
      limits: { cpus: limits.cpus, memoryBytes: limits.memory, diskBytes: limits.disk, processes: limits.processes },
      uid: UID,
      most: limits.sessions,
      ttlMs: limits.idle,
    },
  );
  closing.push(sessions.closeAll);
  const expiry = repeat(EXPIRY_MS, sessions.expire);
  closing.push(async () => expiry.cancel());
  return sessions;
}

function runtimesOf({ runtimes }: Config['serve']): Runtimes {
  const named = Object.entries(runtimes).map(([name, { image, setup = null, default_command: defaultCommand }]) => [
    name,
    { image, setup, defaultCommand },
  ]);
  return { ...DEFAULT_RUNTIMES, ...Object.fromEntries(named) };
}

function repeat(ms: number, work: () => Promise<void>): { cancel(): void } {
  let timer: ReturnType<typeof startTimer>;
  const again = (): void => {
    timer = startTimer(ms, () => void work().then(again, again));
  };
  again();
  return { cancel: () => timer.cancel() };
}

async function listen(
  server: ReturnType<typeof createServer>,
  { host, port }: Pick<Config['serve'], 'host' | 'port'>,
): Promise<string> {
  try {
    await server.listen({ host, port });
  } catch (error) {
    if (systemCode(error) === 'EADDRINUSE') throw httpErrors.PORT_TAKEN({ host, port });
    throw error;
  }
  const { port: taken } = server.server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${taken}`;
}
