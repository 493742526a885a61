import { describe, expect, it } from 'vitest';
import { waitUntil } from '../../test/support/wait-until.ts';
import { withResolvers } from '../../test/support/with-resolvers.ts';
import { engineErrors } from '../engines/errors.ts';
import type { Launcher, WorkerExit, WorkerHandle } from '../launchers/index.ts';
import { libErrors } from '../lib/index.ts';
import { snapshotErrors } from '../snapshots/errors.ts';
import { createWorkerRegister } from './worker-register.ts';
import type { WorkerRegister } from './worker-register.ts';
import type { Ports } from './ports.ts';

const NEVER = new AbortController().signal;
/** For what must not come: all that was under way has had its turn by then. */
const aWhile = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

const handle = (session: string): WorkerHandle => ({ session, worker: 0 }) as WorkerHandle;

const away = engineErrors.ENGINE_UNREACHABLE({ tried: ['it does not answer'] });

interface Scene {
  readonly register: WorkerRegister;
  /** The sessions that the launcher was asked to end, each with its grace. */
  readonly stopped: string[];
  /** A start that ends when `arrives` or `fails` is called. */
  pending(session: string): {
    arrives(): void;
    fails(error?: Error): void;
    readonly told: Promise<WorkerHandle | string>;
  };
  held(session: string): Promise<void>;
  /** The worker ends by itself. */
  dies(session: string): void;
  /** The engine cannot be asked how the worker ends. */
  vanishes(session: string, error?: Error): void;
  /** From now on no worker can be ended. */
  breaks(): void;
}

function openScene(startingMs?: number, lackOfRoom?: string): Scene {
  const exits = new Map<string, (exit: WorkerExit | Promise<never>) => void>();
  const waits = new Map<string, Promise<WorkerExit>>();
  const stopped: string[] = [];
  let broken = false;
  const exitOf = (session: string): Promise<WorkerExit> => {
    const wait = waits.get(session) ?? new Promise<WorkerExit>((resolve) => exits.set(session, resolve));
    waits.set(session, wait);
    return wait;
  };
  const launcher = {
    wait: ({ session }: WorkerHandle) => exitOf(session),
    stop: async ({ session }: WorkerHandle, { graceMs }: { graceMs: number }) => {
      stopped.push(`${session} ${graceMs}`);
      if (broken) throw engineErrors.ENGINE_FAILED({ call: 'kill', reason: 'it cannot be killed' });
      exits.get(session)?.({ code: null, signal: 'SIGKILL' });
      return exitOf(session);
    },
  } as unknown as Launcher;
  const ports = {
    launcher,
    mail: { watch: () => ({ close: () => undefined }) },
    lackOfRoom: async () => lackOfRoom,
  } as unknown as Ports;
  const register = createWorkerRegister(ports, () => undefined, startingMs);
  return {
    register,
    stopped,
    pending: (session) => {
      const start = withResolvers<WorkerHandle>();
      return {
        arrives: () => start.resolve(handle(session)),
        fails: (error = new Error('no such image')) => start.reject(error),
        told: register.expect(session, () => start.promise),
      };
    },
    held: async (session) => void (await register.expect(session, async () => handle(session))),
    dies: (session) => exits.get(session)?.({ code: 1, signal: null }),
    vanishes: (session, error = away) => exits.get(session)?.(Promise.reject(error)),
    breaks: () => (broken = true),
  };
}

describe('a worker that is given up while it is being started', () => {
  it('is waited for and killed before it counts as ended, and its start is not reported', async () => {
    const { register, stopped, pending } = openScene();
    const start = pending('s');
    let isGone = false;
    const ending = register.end('s', NEVER).then(() => (isGone = true));
    await aWhile();
    expect([isGone, register.exitOf('s')]).toEqual([false, undefined]);
    start.arrives();
    await ending;
    expect(stopped).toEqual(['s 0']);
    expect(await start.told).toBe('it was ended while it was being started');
    expect(register.exitOf('s')).toMatchObject({ how: 'killed by SIGKILL' });
  });

  it('is gone when its start fails', async () => {
    const { register, stopped, pending } = openScene();
    const start = pending('s');
    const ending = register.end('s', NEVER);
    start.fails();
    await ending;
    expect([stopped, register.exitOf('s')?.how]).toEqual([[], 'it could not be started: no such image']);
  });

  it('is not waited for when the run is to end, and killed all the same', async () => {
    const { register, stopped, pending } = openScene();
    const start = pending('s');
    const stop = new AbortController();
    const ending = register.end('s', stop.signal);
    stop.abort();
    await ending;
    start.arrives();
    await start.told;
    await aWhile();
    expect(stopped).toEqual(['s 0']);
  });

  it('does not count as gone when it cannot be ended', async () => {
    const { register, held, breaks } = openScene();
    await held('s');
    breaks();
    await expect(register.end('s', NEVER)).rejects.toThrow('it cannot be killed');
    expect(register.exitOf('s')).toBeUndefined();
  });
});

it('a start that fails because of the commit of an attempt is charged to the attempt', async () => {
  const { register } = openScene();
  const { COMMIT_UNUSABLE, SNAPSHOT_FAILED } = snapshotErrors;
  const fails = (session: string, error: Error) => register.expect(session, () => Promise.reject(error));
  await fails('a', COMMIT_UNUSABLE({ commit: 'c'.repeat(40), reason: 'File name too long' }));
  await fails('b', SNAPSHOT_FAILED({ commit: 'c'.repeat(40), reason: 'killed by SIGKILL' }));
  expect(register.exitOf('a')).toMatchObject({ overLimit: true, how: expect.stringContaining('File name too long') });
  expect(register.exitOf('b')).toMatchObject({ overLimit: false });
});

describe('the end of all workers', () => {
  it('comes at once for the live ones, while others are still being started', async () => {
    const { register, stopped, held, pending } = openScene();
    const start = pending('late');
    await held('there');
    const ending = register.stopAll(7);
    await aWhile();
    expect(stopped).toEqual(['there 7']);
    start.arrives();
    await ending;
    expect(stopped).toEqual(['there 7', 'late 7']);
  });

  it('waits for a start up to a limit, and ends a worker that comes later', async () => {
    const { register, stopped, pending } = openScene(0);
    const start = pending('late');
    await register.stopAll(0);
    expect(register.exitOf('late')?.how).toBe('its start took too long to wait for');
    start.arrives();
    expect(await start.told).toBe('it was ended while it was being started');
    await aWhile();
    expect(stopped).toEqual(['late 0']);
  });

  it('is not held up by one that cannot be ended', async () => {
    const { register, held, breaks } = openScene();
    await held('s');
    breaks();
    await register.stopAll(0);
    expect(register.exitOf('s')?.how).toContain('it cannot be killed');
  });
});

describe('a disk without room', () => {
  const NO_ROOM = 'a run needs 1 MB there, and there are 0 MB';

  it('is why a worker ends that was not to: the run is to stop before that is charged to a task', async () => {
    const { register, held, dies } = openScene(undefined, NO_ROOM);
    await held('s');
    expect(register.outage).toBeUndefined();
    dies('s');
    await waitUntil('its end is noticed', () => register.exitOf('s') !== undefined);
    expect(register.outage).toBe(NO_ROOM);
  });

  it('is why a worker cannot be started', async () => {
    const { register, pending } = openScene(undefined, NO_ROOM);
    const start = pending('s');
    start.fails();
    await start.told;
    expect(register.outage).toBe(NO_ROOM);
  });
});

describe('a worker that has done its assignment', () => {
  it('lives until nothing of it is left', async () => {
    const scene = openScene();
    await scene.held('a');
    expect(scene.register.retiredFor('a')).toBeNull();
    scene.register.retire('a', { graceMs: 0, cause: 'done' });
    expect(scene.register.retiredFor('a')).toBe('done');
    expect(scene.register.exitOf('a')).toBeUndefined();
    await waitUntil('its end', () => scene.register.exitOf('a') !== undefined);
    expect(scene.stopped).toEqual(['a 0']);
  });

  it('stops the run when it cannot be ended', async () => {
    const scene = openScene();
    await scene.held('a');
    scene.breaks();
    scene.register.retire('a', { graceMs: 0, cause: 'done' });
    await waitUntil('the outage', () => scene.register.outage !== undefined);
    expect(scene.register.outage).toContain('it cannot be killed');
    expect(scene.register.exitOf('a')).toBeUndefined();
  });
});

describe('the folders of a worker', () => {
  it('may be removed when its end was seen', async () => {
    const { register, held, dies } = openScene();
    expect(register.isGone('unknown')).toBe(true);
    await held('a');
    await held('b');
    expect([register.isGone('a'), register.isGone('b')]).toEqual([false, false]);
    dies('a');
    await waitUntil('its end', () => register.exitOf('a') !== undefined);
    await register.end('b', NEVER);
    expect([register.isGone('a'), register.isGone('b')]).toEqual([true, true]);
  });

  it.each([
    ['the engine cannot be asked', away],
    ['it is not known which processes run', libErrors.PROCESSES_UNSEEN({ waitedMs: 5000 })],
  ])('are kept while it may be at work, because %s', async (_, error) => {
    const { register, held, vanishes, pending } = openScene();
    await held('a');
    vanishes('a', error);
    const start = pending('b');
    start.fails(error);
    await start.told;
    await register.end('b', NEVER);
    await waitUntil('its end', () => register.exitOf('a') !== undefined);
    expect([register.isGone('a'), register.isGone('b')]).toEqual([false, false]);
  });

  it('are kept when the run is to end before it is killed', async () => {
    const { register, held, breaks, stopped } = openScene();
    await held('a');
    breaks();
    await register.end('a', AbortSignal.abort()).catch(() => undefined);
    expect([stopped, register.isGone('a')]).toEqual([['a 0'], false]);
  });
});
