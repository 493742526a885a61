import { EventEmitter } from 'node:events';
import { engineErrors } from '../../src/engines/errors.ts';
import type {
  ContainerExit,
  ContainerInfo,
  Engine,
  EngineInfo,
  ImageInfo,
  VolumeInfo,
} from '../../src/engines/index.ts';
import { randomId } from '../../src/lib/index.ts';
import type { AppError } from '../../src/lib/index.ts';
import { createFakeContainer, failed, infoOf, startFakeContainer } from './fake-container.ts';
import type { FakeContainer, FakeProgram } from './fake-container.ts';
import { hasLabels, imageOf, imagesOf } from './fake-images.ts';

/** Has the containers, and outlives an engine object, as a daemon outlives its clients. */
export interface FakeEngineMachine {
  readonly program: FakeProgram;
  readonly images: Map<string, ImageInfo>;
  readonly volumes: Map<string, VolumeInfo>;
  readonly containers: Map<string, FakeContainer>;
  readonly builds: Map<string, string>;
  readonly events: EventEmitter<{ down: [] }>;
  /** False while the engine is stopped: every call then throws ENGINE_UNREACHABLE. */
  up: boolean;
}

export function createFakeEngineMachine(program: FakeProgram, images: readonly string[]): FakeEngineMachine {
  const machine: FakeEngineMachine = {
    program,
    images: new Map(),
    volumes: new Map(),
    containers: new Map(),
    builds: new Map(),
    events: new EventEmitter(),
    up: true,
  };
  machine.events.setMaxListeners(0);
  for (const tag of images) machine.images.set(tag, imageOf(randomId(), {}));
  return machine;
}

/** Stops the engine, as `systemctl stop docker` does; its containers go on. */
export function takeDown(machine: FakeEngineMachine): void {
  machine.up = false;
  machine.events.emit('down');
}

const INFO: EngineInfo = {
  id: 'fake',
  version: '1.0',
  os: 'linux',
  arch: 'amd64',
  cpus: 2,
  memoryBytes: 8e9,
  mapsUsers: false,
  takesSeccomp: true,
  ownKernels: false,
  lacks: [],
  runtimes: ['runc'],
  defaultRuntime: 'runc',
  limits: { memory: true, cpus: true, pids: true },
  endpoint: 'fake',
};

/** An engine without a daemon, for tests of code that uses an engine. */
export function createFakeEngine(machine: FakeEngineMachine): Engine {
  const engine: Engine = {
    name: 'fake',
    info: async () => INFO,
    ...imagesOf(machine),
    ...volumesOf(machine),
    ...containersOf(machine),
    ...outputOf(machine),
    execute: (id) => Promise.reject(failed(`run a program in container ${id}`, 'a fake container has one program')),
  };
  return Object.fromEntries(
    Object.entries(engine).map(([name, call]) => [name, typeof call === 'function' ? guarded(machine, call) : call]),
  ) as unknown as Engine;
}

function guarded(machine: FakeEngineMachine, call: (...args: never[]) => Promise<unknown>): unknown {
  return async (...args: never[]) => {
    if (!machine.up) throw unreachable();
    return call(...args);
  };
}

const unreachable = (): AppError => engineErrors.ENGINE_UNREACHABLE({ tried: ['fake: it is stopped'] });

type Part<Name extends keyof Engine> = Pick<Engine, Name>;

function volumesOf({ volumes }: FakeEngineMachine): Part<'createVolume' | 'removeVolume' | 'listVolumes'> {
  return {
    createVolume: async (name, labels) => {
      const there = volumes.get(name);
      if (there === undefined) volumes.set(name, { name, labels, createdAt: new Date().toISOString() });
      else if (!hasLabels(there.labels, labels)) throw failed(`create volume ${name}`, 'other labels');
    },
    removeVolume: async (name) => void volumes.delete(name),
    listVolumes: async (labels) => [...volumes.values()].filter((volume) => hasLabels(volume.labels, labels)),
  };
}

type ContainerParts = Part<
  | 'createContainer'
  | 'startContainer'
  | 'renameContainer'
  | 'inspectContainer'
  | 'listContainers'
  | 'waitContainer'
  | 'signalContainer'
  | 'removeContainer'
>;

function containersOf(machine: FakeEngineMachine): ContainerParts {
  const { containers } = machine;
  const started = new Map<string, Promise<ContainerExit>>();
  const infos = (): ContainerInfo[] => [...containers].map(([id, container]) => infoOf(id, container));
  return {
    createContainer: async (spec) => createFakeContainer(machine, spec),
    startContainer: async (id) => {
      const container = containers.get(id);
      if (container === undefined) throw failed(`start container ${id}`, 'no such container');
      started.set(id, container.exit);
      if (container.startedAt === null) startFakeContainer(machine, container);
    },
    renameContainer: async (id, name) => {
      if (infos().some((other) => other.name === name)) throw engineErrors.CONTAINER_NAME_TAKEN({ name });
      const container = containers.get(id);
      if (container === undefined) throw failed(`rename container ${id}`, 'no such container');
      container.name = name;
    },
    inspectContainer: async (id) => infos().find((info) => info.id === id),
    listContainers: async (labels) => infos().filter((info) => hasLabels(info.labels, labels)),
    waitContainer: async (id, signal) => {
      const exit = started.get(id) ?? containers.get(id)?.exit ?? { code: null, oomKilled: false };
      return Promise.race([exit, interruption(machine, signal)]);
    },
    signalContainer: async (id, signal) => {
      const container = containers.get(id);
      if (container?.startedAt === null) return;
      if (signal === 'SIGTERM') container?.term();
      else container?.end({ code: 137, oomKilled: false });
    },
    removeContainer: async (id) => {
      const container = containers.get(id);
      container?.end({ code: container.startedAt === null ? null : 137, oomKilled: false });
    },
  };
}

function interruption(machine: FakeEngineMachine, signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    machine.events.once('down', () => reject(unreachable()));
    const abort = (): void => reject(signal?.reason as Error);
    if (signal?.aborted === true) abort();
    signal?.addEventListener('abort', abort, { once: true });
  });
}

function outputOf(machine: FakeEngineMachine): Part<'attach' | 'logs'> {
  const find = (id: string, call: string): FakeContainer => {
    const container = machine.containers.get(id);
    if (container === undefined) throw failed(`${call} container ${id}`, 'no such container');
    return container;
  };
  return {
    attach: async (id) => {
      const { stdin, stdout, stderr } = find(id, 'attach to').streams;
      return { stdin, stdout, stderr, close: () => void stdin.end() };
    },
    logs: async (id, { follow, tail, signal }, sink) => {
      const { log, printed } = find(id, 'read the log of');
      const print = (stream: 'stdout' | 'stderr', text: string): void => sink[stream](Buffer.from(text));
      for (const { stream, text } of tail === 'all' ? log : log.slice(log.length - tail)) print(stream, text);
      if (!follow || signal?.aborted === true) return;
      printed.on('print', print);
      await new Promise<void>((resolve) => {
        printed.once('end', () => resolve());
        signal?.addEventListener('abort', () => resolve(), { once: true });
      });
      printed.off('print', print);
    },
  };
}
