import { EventEmitter, once } from 'node:events';
import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { newSpec, waitForLine } from '../../../test/contract/launcher-contract.ts';
import { createFakeEngine, createFakeEngineMachine } from '../../../test/support/fake-engine.ts';
import type { FakeEngineMachine } from '../../../test/support/fake-engine.ts';
import { engineErrors } from '../../engines/errors.ts';
import type { Engine } from '../../engines/index.ts';
import type { Launcher } from '../launcher.ts';
import { createContainerLauncher } from './container-launcher.ts';
import type { ContainerSettings } from './settings.ts';

const settings = {
  image: 'image',
  repo: '/nowhere',
  uid: 4711,
  gid: 4712,
  memoryBytes: 1e9,
  diskBytes: 1e9,
  network: 'none',
  egress: null,
  mounts: [],
  caches: [],
  runtime: null,
  secrets: [],
  accesses: new Map(),
  withheld: [],
} as unknown as ContainerSettings;

const failed = engineErrors.ENGINE_FAILED({ call: 'do it', reason: 'no such luck' });
/** Fails the first time. */
const failsOnce = (call: Engine['removeContainer']): Engine['removeContainer'] => {
  let failures = 1;
  return async (id) => (failures-- > 0 ? Promise.reject(failed) : call(id));
};

interface Scene {
  readonly machine: FakeEngineMachine;
  readonly launcher: Launcher;
  /** Whether the sweeper was told that all is in order. */
  isForgotten(): boolean;
}

/** An engine of which some calls are not as they should be. */
function openScene(broken: (engine: Engine) => Partial<Engine>): Scene {
  const machine = createFakeEngineMachine(({ stdout }) => stdout('ready\n'), ['image']);
  const sound = createFakeEngine(machine);
  let forgotten = false;
  const startSweeper = (): { close(): void } => ({ close: () => (forgotten = true) });
  const launcher = createContainerLauncher({
    engine: { ...sound, ...broken(sound) },
    settings,
    startSweeper,
    outageMs: 0,
  });
  return { machine, launcher, isForgotten: () => forgotten };
}

describe('a container that is being made during a sweep', () => {
  afterEach(() => vi.useRealTimers());

  it('is left to the sweeper when it takes too long', async () => {
    const hanging = new EventEmitter();
    const startContainer = async (): Promise<void> => {
      hanging.emit('asked');
      await once(hanging, 'over');
      throw failed;
    };
    const { launcher, isForgotten } = openScene(() => ({ startContainer }));
    const spec = newSpec(launcher);
    const asked = once(hanging, 'asked');
    const started = launcher.start(spec).catch(() => undefined);
    await asked;
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const swept = launcher.sweep(spec.runId);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await swept).toBe(1);
    expect(isForgotten()).toBe(false);
    hanging.emit('over');
    await started;
  });

  it('is removed too when it comes in time, and then the sweeper ends', async () => {
    const { machine, launcher, isForgotten } = openScene(() => ({}));
    const spec = newSpec(launcher);
    const started = launcher.start(spec).catch(() => undefined);
    await launcher.sweep(spec.runId);
    await started;
    expect([machine.containers.size, isForgotten()]).toEqual([0, true]);
  });
});

describe('a worker of which it is not known whether it lives', () => {
  it('is removed when its end cannot be waited for', async () => {
    const { machine, launcher } = openScene(() => ({ waitContainer: async () => Promise.reject(failed) }));
    const handle = await launcher.start(newSpec(launcher));
    await expect(launcher.wait(handle)).rejects.toBe(failed);
    expect(machine.containers.size).toBe(0);
  });

  it('counts as an outage when it cannot be removed either: no other worker may get its folders', async () => {
    const { launcher } = openScene((engine) => ({
      waitContainer: async () => Promise.reject(failed),
      removeContainer: failsOnce(engine.removeContainer),
    }));
    const handle = await launcher.start(newSpec(launcher));
    await expect(launcher.wait(handle)).rejects.toMatchObject({ code: 'ENGINE_UNREACHABLE' });
  });

  it('counts as an outage when its start has failed and it cannot be removed', async () => {
    const { launcher } = openScene((engine) => ({
      startContainer: async (id) => {
        await engine.startContainer(id);
        throw failed;
      },
      removeContainer: failsOnce(engine.removeContainer),
    }));
    await expect(launcher.start(newSpec(launcher))).rejects.toMatchObject({ code: 'ENGINE_UNREACHABLE' });
  });

  it('is no outage when only its remains cannot be removed', async () => {
    const removeContainer: Engine['removeContainer'] = async (id) => {
      machine.containers.get(id)?.end({ code: 137, oomKilled: false });
      throw failed;
    };
    const { machine, launcher } = openScene(() => ({
      startContainer: async () => Promise.reject(failed),
      removeContainer,
    }));
    await expect(launcher.start(newSpec(launcher))).rejects.toBe(failed);
  });
});

it('the output of a worker is kept to its end, also when the engine closes the connection', async () => {
  const { launcher } = openScene((engine) => ({
    attach: async (id) => {
      const { stdin, close } = await engine.attach(id);
      return { stdin, stdout: new PassThrough().end(), stderr: new PassThrough().end(), close };
    },
  }));
  const handle = await launcher.start(newSpec(launcher));
  await waitForLine(launcher, handle, 'ready');
});
