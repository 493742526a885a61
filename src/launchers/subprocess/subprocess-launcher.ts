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
} from '../../lib/index.ts';
import type { Environment, ProcessIdentity } from '../../lib/index.ts';
import { MARKS } from '../../protocol/index.ts';
import { lastLines } from '../../logs/index.ts';
import type { Launcher, WorkerExit, WorkerHandle, WorkerSpec } from '../launcher.ts';

const NAME = 'subprocess';

/** The system says nothing when a process ends that is not our child. */
const WATCH_MS = 100;

/** Workers as plain processes with the user's own rights: no walls, no engine needed. */
export function createSubprocessLauncher(options: { node: string; workerProgram: string }): Launcher {
  const exits = new Map<string, Promise<WorkerExit>>();
  const watch = (handle: WorkerHandle): Promise<WorkerExit> => {
    const known = exits.get(handle.session);
    if (known !== undefined) return known;
    const watched = waitForStranger(identityOf(handle)).then((exit) => swept(handle, exit));
    exits.set(handle.session, watched);
    return watched;
  };
  return {
    name: NAME,
    capabilities: { sharesObjects: true },
    start: async (spec) => {
      const { handle, exit } = await startWorker(options, spec);
      exits.set(handle.session, exit);
      return handle;
    },
    recover: async (handle) => {
      if (!(await isAlive(identityOf(handle)))) {
        await swept(handle, { code: null, signal: null });
        return false;
      }
      void watch(handle);
      return true;
    },
    wait: watch,
    takesCredentials: () => true,
    giveCredentials: () => undefined,
    stop: async (handle, { graceMs }) => {
      const exit = watch(handle);
      if (await isAlive(identityOf(handle))) kill(identityOf(handle).pid, 'SIGTERM');
      const over = await Promise.race([exit.then(() => true), sleep(graceMs).then(() => false)]);
      if (!over && (await isAlive(identityOf(handle)))) killGroup(identityOf(handle).pid, 'SIGKILL');
      return exit;
    },
    logs: async (handle, lines) => {
      const { log } = handle.facts;
      // A worker that was found by its marks alone does not tell where its log is.
      return typeof log === 'string' ? (await lastLines(log, lines, () => true)).lines : [];
    },
    list: listRun,
    sweep: (runId) => killByEnvironment(MARKS.run, runId),
  };
}

async function startWorker(
  options: { node: string; workerProgram: string },
  spec: WorkerSpec,
): Promise<{ handle: WorkerHandle; exit: Promise<WorkerExit> }> {
  const log = await open(spec.log, 'a');
  try {
    const folders = [
      '--worktree',
      spec.worktree,
      '--inbox',
      spec.inbox,
      '--outbox',
      spec.outbox,
      '--shared',
      spec.shared,
    ];
    const child = startDaemon(options.node, [options.workerProgram, ...folders], {
      cwd: spec.worktree,
      env: { ...spec.env, ...marksOf(spec) },
      output: log.fd,
    });
    const end = endOf(child, options.node);
    if (child.pid === undefined) await end;
    const pid = child.pid ?? 0;
    const handle: WorkerHandle = {
      launcher: NAME,
      runId: spec.runId,
      worker: spec.worker,
      session: spec.session,
      pid,
      containerId: null,
      facts: { started: (await processStart(pid)) ?? 'gone', log: spec.log },
    };
    return { handle, exit: end.then((exit) => swept(handle, exit)) };
  } finally {
    await log.close();
  }
}

/** A worker is gone only when all that it started is gone as well. */
async function swept(handle: WorkerHandle, exit: WorkerExit): Promise<WorkerExit> {
  await killByEnvironment(MARKS.session, handle.session);
  return exit;
}

async function waitForStranger(identity: ProcessIdentity): Promise<WorkerExit> {
  while (await isAlive(identity)) await sleep(WATCH_MS);
  return { code: null, signal: null };
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

function marksOf(spec: WorkerSpec): Environment {
  return { [MARKS.run]: spec.runId, [MARKS.session]: spec.session, [MARKS.worker]: String(spec.worker) };
}

function identityOf(handle: WorkerHandle): ProcessIdentity {
  return { pid: handle.pid ?? 0, started: String(handle.facts['started']) };
}
