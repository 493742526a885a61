import { createHash } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type {
  ContainerEvent,
  ContainerExit,
  ContainerInfo,
  Engine,
  ImageBuild,
  ImageInfo,
  Labels,
} from '../../src/engines/index.ts';
import { AppError, randomId } from '../../src/lib/index.ts';
import { createFakeContainer, failed, infoOf, startFakeContainer } from './fake-container.ts';
import type { FakeContainer, FakeProgram } from './fake-container.ts';

/** What containers live on. It outlives an engine, as a daemon outlives its clients. */
export interface FakeEngineMachine {
  readonly program: FakeProgram;
  readonly images: Map<string, ImageInfo>;
  readonly volumes: Map<string, Labels>;
  readonly containers: Map<string, FakeContainer>;
  readonly builds: Map<string, string>;
  readonly events: EventEmitter<{ event: [ContainerEvent]; down: [] }>;
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

/** Stops the engine, as `systemctl stop docker` would; its containers live on. */
export function takeDown(machine: FakeEngineMachine): void {
  machine.up = false;
  machine.events.emit('down');
}

/** An engine without a daemon, for tests of what uses one. */
export function createFakeEngine(machine: FakeEngineMachine): Engine {
  const engine: Engine = {
    ...imagesOf(machine),
    ...volumesOf(machine),
    ...containersOf(machine),
    ...outputOf(machine),
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

const unreachable = (): AppError => new AppError('ENGINE_UNREACHABLE', { tried: ['fake: it is stopped'] });
const hasLabels = (own: Labels, wanted: Labels): boolean =>
  Object.entries(wanted).every(([name, value]) => own[name] === value);

/** Its names are the machine's: an image is asked for them when it is looked at. */
function imageOf(id: string, labels: Labels): ImageInfo {
  const now = new Date().toISOString();
  const common = { user: '', arch: 'amd64', bytes: 1000, tags: [], createdAt: now, namedAt: now };
  return { id: `sha256:${id}`, labels, ...common };
}

type Part<Name extends keyof Engine> = Pick<Engine, Name>;

type ImageParts = Part<'name' | 'info' | 'inspectImage' | 'listImages' | 'buildImage' | 'tagImage' | 'removeImage'>;

function imagesOf(machine: FakeEngineMachine): ImageParts {
  return {
    name: 'fake',
    info: async () => ({
      version: '1.0',
      os: 'linux',
      arch: 'amd64',
      cpus: 2,
      memoryBytes: 8e9,
      mapsUsers: false,
      runtimes: ['runc'],
      limits: { memory: true, cpus: true, pids: true },
      endpoint: 'fake',
    }),
    inspectImage: async (name) => findImage(machine, name),
    listImages: async (labels) => {
      const ids = new Set(
        [...machine.images.values()].filter((own) => hasLabels(own.labels, labels)).map(({ id }) => id),
      );
      const found = [...ids].map((id) => findImage(machine, id)).filter((image) => image !== undefined);
      return found.map((image) => ({ ...image, used: isUsed(machine, image) }));
    },
    buildImage: async (plan, onLine) => build(machine, plan, onLine),
    tagImage: async (id, tag) => {
      const image = findImage(machine, id);
      if (image === undefined) throw new AppError('IMAGE_MISSING', { image: tag });
      const named = { ...image, namedAt: new Date().toISOString() };
      for (const name of [...image.tags, tag]) machine.images.set(name, named);
    },
    removeImage: async (tag) => {
      const image = findImage(machine, tag);
      const last = image?.tags.length === 1;
      if (last && isUsed(machine, image)) throw failed(`remove image ${tag}`, 'a container is using it');
      machine.images.delete(tag);
    },
  };
}

/** By its id, or one of its names. */
function findImage({ images }: FakeEngineMachine, name: string): ImageInfo | undefined {
  const image = images.get(name) ?? [...images.values()].find(({ id }) => id === name);
  const tags = [...images].filter(([, { id }]) => id === image?.id).map(([tag]) => tag);
  return image === undefined ? undefined : { ...image, tags };
}

function isUsed({ containers }: FakeEngineMachine, { tags }: ImageInfo): boolean {
  return [...containers.values()].some(({ spec }) => tags.includes(spec.image));
}

/** Knows two commands: `RUN echo …` and `RUN exit …`. */
function build(machine: FakeEngineMachine, plan: ImageBuild, onLine: (line: string) => void): string {
  plan.signal?.throwIfAborted();
  const { tag, files, labels, buildArgs } = plan;
  const key = createHash('sha256')
    .update(JSON.stringify([files, labels, buildArgs]))
    .digest('hex');
  const cached = plan.noCache ? undefined : machine.builds.get(key);
  const dockerfile = files.find(({ path }) => path === plan.dockerfile)?.content ?? new Uint8Array();
  const output: string[] = [];
  const print = (line: string): void => {
    output.push(line);
    onLine(line);
  };
  for (const step of Buffer.from(dockerfile).toString('utf8').trim().split('\n')) {
    print(`Step : ${step}`);
    const [, command, words = ''] = /^RUN (echo|exit) (.*)$/.exec(step) ?? [];
    if (command === 'exit') throw new AppError('IMAGE_BUILD_FAILED', { image: tag, reason: `code: ${words}`, output });
    if (command === 'echo' && cached === undefined) print(words);
  }
  const id = cached ?? randomId();
  machine.builds.set(key, id);
  machine.images.set(tag, imageOf(id, labels));
  return `sha256:${id}`;
}

function volumesOf({ volumes }: FakeEngineMachine): Part<'createVolume' | 'removeVolume' | 'listVolumes'> {
  return {
    createVolume: async (name, labels) => {
      const there = volumes.get(name);
      if (there === undefined) volumes.set(name, labels);
      else if (!hasLabels(there, labels)) throw failed(`create volume ${name}`, 'other labels');
    },
    removeVolume: async (name) => void volumes.delete(name),
    listVolumes: async (labels) =>
      [...volumes].filter(([, own]) => hasLabels(own, labels)).map(([name, own]) => ({ name, labels: own })),
  };
}

type ContainerParts = Part<
  | 'createContainer'
  | 'startContainer'
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
      if (container.startedAt === null) startFakeContainer(machine, id, container);
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

function outputOf(machine: FakeEngineMachine): Part<'attach' | 'logs' | 'watchEvents'> {
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
    watchEvents: async (labels, onEvent, signal) => {
      const hear = (event: ContainerEvent): void => {
        if (hasLabels(event.labels, labels)) onEvent(event);
      };
      machine.events.on('event', hear);
      const ended = new Promise<void>((resolve, reject) => {
        signal.addEventListener('abort', () => resolve(), { once: true });
        machine.events.once('down', () => reject(unreachable()));
      }).finally(() => machine.events.off('event', hear));
      ended.catch(() => undefined);
      return { ended };
    },
  };
}
