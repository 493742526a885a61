import { engineErrors } from '../engines/errors.ts';
import { hasCode, isPassing, libErrors, reasonOf, repeated, within } from '../lib/index.ts';
import type { WorkerHandle } from '../launchers/index.ts';
import { snapshotErrors } from '../snapshots/errors.ts';
import { endOfExit, GONE } from './decide-losses.ts';
import type { WorkerEnd } from './decide-losses.ts';
import type { Ports } from './ports.ts';

/** The workers that this process has started or taken over: which live, and how the others ended. */
export interface WorkerRegister {
  /** Registers a worker that is being started, which counts as alive. Resolves with its handle, or with why there is none. */
  expect(session: string, start: () => Promise<WorkerHandle>): Promise<WorkerHandle | string>;
  /** Registers a worker: waits for its end, and watches its mail. */
  hold(handle: WorkerHandle): void;
  /** How the worker of this session ended; undefined while it lives. An unknown session counts as ended. */
  exitOf(session: string): WorkerEnd | undefined;
  /**
   * Whether nothing of it is left, so that its folders may be removed. False when the engine could not be asked how it ended:
   * it may be at work. An unknown session has ended before.
   */
  isGone(session: string): boolean;
  /** Why no worker can be started or asked about: the engine is gone, or the machine has run out of something. */
  readonly outage: string | undefined;
  lastLines(session: string, lines: number): Promise<string[]>;
  /** Whether it can be given an attempt that asks an agent; true while it is being started. */
  takesCredentials(session: string): boolean;
  /** For the agent of this attempt alone. A worker that is being started gets them after its start. */
  giveCredentials(session: string, attempt: string, agent: string): void;
  /**
   * Kills one; resolves when it is gone. A start under way is waited for: the worker may be at work already. When the
   * signal fires, it is killed all the same, but not waited for. Rejects when it may live on.
   */
  end(session: string, signal: AbortSignal): Promise<void>;
  /** Begins to end one that has done its assignment, or costs too much. Its end is seen at a later look. */
  retire(session: string, how: { readonly graceMs: number; readonly cause: string }): void;
  /** Why it was retired; null when it was not. */
  retiredFor(session: string): string | null;
  /**
   * Ends all workers; resolves when nothing of them is left. A worker that cannot be ended, or whose start takes too long,
   * counts as ended: it does not hold up the others, and the sweep removes it.
   */
  stopAll(graceMs: number): Promise<void>;
}

/** How long the end of all waits for a start that is still under way. */
const STARTING_MS = 15_000;

/** One life of one worker. */
interface Life {
  /** Resolves when its start is over; undefined when none is under way. */
  starting: Promise<unknown> | undefined;
  handle: WorkerHandle | undefined;
  end: WorkerEnd | undefined;
  /** Its end was seen: nothing is left of it. */
  isGone: boolean;
  /** It was asked to end, perhaps before its start was over. */
  isUnwanted: boolean;
  /** Why it was retired. */
  retiredFor: string | null;
}

type RegisterPorts = Pick<Ports, 'launcher' | 'mail' | 'lackOfRoom'>;

interface Register {
  readonly ports: RegisterPorts;
  /** Called when a worker has written, was started or has ended. */
  readonly onNews: () => void;
  readonly lives: Map<string, Life>;
  outage: string | undefined;
}

export function createWorkerRegister(
  ports: RegisterPorts,
  onNews: () => void,
  startingMs = STARTING_MS,
): WorkerRegister {
  const { launcher } = ports;
  const register: Register = { ports, onNews, lives: new Map(), outage: undefined };
  return {
    expect: (session, start) => {
      const life = lifeOf(register, session);
      const started = begin(register, life, start);
      life.starting = started;
      return started;
    },
    hold: (handle) => hold(register, handle),
    exitOf: (session) => exitOf(register.lives.get(session)),
    isGone: (session) => register.lives.get(session)?.isGone ?? true,
    get outage() {
      return register.outage;
    },
    lastLines: async (session, lines) => {
      const { handle } = lifeOf(register, session);
      return handle === undefined ? [] : (await launcher.logs(handle, lines).catch(() => [])).map(textOf);
    },
    takesCredentials: (session) => {
      const { starting, handle } = lifeOf(register, session);
      return starting !== undefined || (handle !== undefined && launcher.takesCredentials(handle));
    },
    giveCredentials: (session, attempt, agent) => giveCredentials(register, lifeOf(register, session), attempt, agent),
    end: (session, signal) => within(Infinity, end(register, lifeOf(register, session), 0), signal),
    retire: (session, how) => retire(register, lifeOf(register, session), how),
    retiredFor: (session) => register.lives.get(session)?.retiredFor ?? null,
    stopAll: (graceMs) => endAll(register, graceMs, startingMs + graceMs),
  };
}

function giveCredentials({ ports }: Register, life: Life, attempt: string, agent: string): void {
  const give = (): void => {
    if (life.handle !== undefined) ports.launcher.giveCredentials(life.handle, attempt, agent);
  };
  if (life.starting === undefined) give();
  else void life.starting.then(give);
}

function lifeOf({ lives }: Register, session: string): Life {
  const life = lives.get(session) ?? {
    starting: undefined,
    handle: undefined,
    end: undefined,
    isGone: true,
    isUnwanted: false,
    retiredFor: null,
  };
  lives.set(session, life);
  return life;
}

function exitOf(life: Life | undefined): WorkerEnd | undefined {
  if (life?.starting !== undefined) return undefined;
  return life?.end ?? (life?.handle === undefined ? GONE : undefined);
}

async function begin(
  register: Register,
  life: Life,
  start: () => Promise<WorkerHandle>,
): Promise<WorkerHandle | string> {
  life.isGone = false;
  try {
    // A start that failed has left nothing: the worker's folders are made anew.
    const handle = await repeated(start);
    hold(register, handle);
    // `end` waits for it and ends it; for every other caller it has not started.
    return life.isUnwanted ? 'it was ended while it was being started' : handle;
  } catch (error) {
    await lookForRoom(register);
    const how = `it could not be started: ${failure(register, error).how}`;
    const setupFailure = hasCode(error, snapshotErrors.SETUP_FAILED) ? { setupFailure: reasonOf(error) } : {};
    life.end = { how, overLimit: hasCode(error, snapshotErrors.COMMIT_UNUSABLE), ...setupFailure };
    life.isGone = !isOutage(error);
    return how;
  } finally {
    life.starting = undefined;
    register.onNews();
  }
}

function hold(register: Register, handle: WorkerHandle): void {
  const { ports, onNews } = register;
  const life = lifeOf(register, handle.session);
  life.handle = handle;
  life.isGone = false;
  const watch = ports.mail.watch(handle.worker, onNews);
  const note = (end: WorkerEnd, isGone: boolean): void => {
    life.end = end;
    life.isGone = isGone;
    watch.close();
    onNews();
  };
  ports.launcher.wait(handle).then(
    async (exit) => {
      if (exit.code !== 0 && !life.isUnwanted) await lookForRoom(register);
      note(endOfExit(exit), true);
    },
    (error: unknown) => note(failure(register, error), !isOutage(error)),
  );
}

function failure(register: Register, error: unknown): WorkerEnd {
  if (isOutage(error)) register.outage ??= reasonOf(error);
  return { how: reasonOf(error), overLimit: false };
}

/** Then it is not known whether the worker lives. */
const isOutage = (error: unknown): boolean =>
  hasCode(error, engineErrors.ENGINE_UNREACHABLE) || hasCode(error, libErrors.PROCESSES_UNSEEN) || isPassing(error);

/** A worker that can write nothing ends, and the next one would as well. */
async function lookForRoom(register: Register): Promise<void> {
  register.outage ??= await register.ports.lackOfRoom().catch(() => undefined);
}

async function end({ ports }: Register, life: Life, graceMs: number): Promise<void> {
  life.isUnwanted = true;
  await life.starting;
  if (life.handle === undefined || life.isGone) return;
  await ports.launcher.stop(life.handle, { graceMs });
  life.isGone = true;
}

function retire(register: Register, life: Life, { graceMs, cause }: { graceMs: number; cause: string }): void {
  life.retiredFor = cause;
  end(register, life, graceMs).catch((error: unknown) => {
    // It may live on, so the run stops.
    register.outage ??= reasonOf(error);
    register.onNews();
  });
}

/** Ends the live ones at once; those that are being started within the limit. */
async function endAll(register: Register, graceMs: number, limitMs: number): Promise<void> {
  const endOne = async (life: Life): Promise<void> => {
    await end(register, life, graceMs).catch((error: unknown) => (life.end = failure(register, error)));
  };
  const lives = [...register.lives.values()];
  const starting = lives.filter((life) => life.starting !== undefined);
  const live = lives.filter(
    (life) => life.starting === undefined && life.handle !== undefined && life.end === undefined,
  );
  await Promise.all([within(limitMs, Promise.all(starting.map(endOne))), ...live.map(endOne)]);
  for (const life of starting) {
    if (life.starting === undefined) continue;
    life.starting = undefined;
    life.end = { how: 'its start took too long to wait for', overLimit: false };
  }
}

/** Log lines are JSON; what a program prints as it dies is not. */
function textOf(line: string): string {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null && 'text' in value && typeof value.text === 'string')
      return value.text;
  } catch {
    // Not JSON: shown as it is.
  }
  return line.slice(0, 300);
}
