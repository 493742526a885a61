import { open } from 'node:fs/promises';
import {
  endOf,
  environmentOf,
  findByEnvironment,
  isAlive,
  kill,
  killByEnvironment,
  killGroup,
  processStart,
  sleep,
  startDaemon,
  within,
} from '../../lib/index.ts';
import type { ProcessIdentity } from '../../lib/index.ts';
import { MARKS } from '../../protocol/index.ts';
import { lastLines } from '../../logs/index.ts';
import type { Launcher, WorkerExit, WorkerHandle, WorkerSpec } from '../launcher.ts';

const NAME = 'subprocess';

const WATCH_MS = 100;
const UNSEEN: WorkerExit = { code: null, signal: null };

interface SubprocessOptions {
  readonly node: string;
  readonly workerProgram: string;
}

/** Workers as plain processes with the user's own rights. No engine is needed. */
export function createSubprocessLauncher(options: SubprocessOptions): Launcher {
  const exits = new Map<string, Promise<WorkerExit>>();
  const wait = (handle: WorkerHandle): Promise<WorkerExit> => {
    const exit = exits.get(handle.session) ?? exitOfAnother(handle);
    // Without a handler, the error would end this process before a caller waits for the exit.
    exit.catch(() => undefined);
    exits.set(handle.session, exit);
    return exit;
  };
  return {
    name: NAME,
    capabilities: { sharesObjects: true, singleUse: false },
    spares: null,
    start: async (spec) => {
      const { handle, exit } = await startWorker(options, spec);
      exits.set(handle.session, exit);
      return handle;
    },
    recover: async (handle) => {
      const lives = await isAlive(identityOf(handle));
      if (lives) void wait(handle);
      else await swept(handle, UNSEEN);
      return lives;
    },
    wait,
    takesCredentials: () => true,
    giveCredentials: () => undefined,
    stop: (handle, { graceMs }) => stop(identityOf(handle), wait(handle), graceMs),
    logs: async ({ facts: { log } }, lines) =>
      // A worker that was found by its marks has no log in its handle.
      typeof log === 'string' ? (await lastLines(log, lines, () => true)).lines : [],
    list: listRun,
    sweep: (runId) => killByEnvironment(MARKS.run, runId),
  };
}

async function startWorker(
  { node, workerProgram }: SubprocessOptions,
  spec: WorkerSpec,
): Promise<{ handle: WorkerHandle; exit: Promise<WorkerExit> }> {
  const { worktree, inbox, outbox, shared, runId, worker, session } = spec;
  const log = await open(spec.log, 'a');
  try {
    const folders = Object.entries({ worktree, inbox, outbox, shared }).flatMap(([name, folder]) => [
      `--${name}`,
      folder,
    ]);
    const marks = { [MARKS.run]: runId, [MARKS.session]: session, [MARKS.worker]: String(worker) };
    const child = startDaemon(node, [workerProgram, ...folders], {
      cwd: worktree,
      env: { ...spec.env, ...marks },
      output: log.fd,
    });
    const end = endOf(child, node);
    if (child.pid === undefined) await end;
    const pid = child.pid ?? 0;
    const facts = { started: await startOfNew(pid), log: spec.log };
    const handle: WorkerHandle = { launcher: NAME, runId, worker, session, pid, containerId: null, facts };
    return { handle, exit: end.then((exit) => swept(handle, exit)) };
  } finally {
    await log.close();
  }
}

/** When a new worker was started. One for which that cannot be known could not be ended later, so it is ended now. */
async function startOfNew(pid: number): Promise<string> {
  try {
    return (await processStart(pid)) ?? 'gone';
  } catch (error) {
    killGroup(pid, 'SIGKILL');
    throw error;
  }
}

async function stop(worker: ProcessIdentity, exit: Promise<WorkerExit>, graceMs: number): Promise<WorkerExit> {
  if (await isAlive(worker)) kill(worker.pid, 'SIGTERM');
  const isOver = (await within(graceMs, exit)) !== undefined;
  if (!isOver && (await isAlive(worker))) killGroup(worker.pid, 'SIGKILL');
  return exit;
}

/** Ends all that the worker has started: only then it is gone. */
async function swept(handle: WorkerHandle, exit: WorkerExit): Promise<WorkerExit> {
  await killByEnvironment(MARKS.session, handle.session);
  return exit;
}

/** The exit of a worker that another process has started. The system does not report it, so it is polled. */
async function exitOfAnother(handle: WorkerHandle): Promise<WorkerExit> {
  while (await isAlive(identityOf(handle))) await sleep(WATCH_MS);
  return swept(handle, UNSEEN);
}

async function listRun(runId: string): Promise<WorkerHandle[]> {
  const pids = await findByEnvironment(MARKS.run, runId);
  const handles = await Promise.all(pids.map((pid) => handleOf(runId, pid)));
  return handles.filter((handle) => handle !== undefined);
}

/** The worker itself, not what it has started: the leader of its process group that runs the worker program. */
async function handleOf(runId: string, pid: number): Promise<WorkerHandle | undefined> {
  const env = await environmentOf(pid);
  const started = await processStart(pid);
  const [session, worker] = [env[MARKS.session], env[MARKS.worker]];
  if (started === undefined || session === undefined || env[MARKS.child] !== undefined) return undefined;
  return { launcher: NAME, runId, worker: Number(worker), session, pid, containerId: null, facts: { started } };
}

function identityOf(handle: WorkerHandle): ProcessIdentity {
  return { pid: handle.pid ?? 0, started: String(handle.facts['started']) };
}
