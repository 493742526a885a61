import { createHash } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { existsSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import type { Readable } from 'node:stream';
import type {
  ContainerEvent,
  ContainerExit,
  ContainerInfo,
  ContainerSpec,
  Engine,
  ImageBuild,
  ImageInfo,
  Labels,
} from '../../src/engines/index.ts';
import { AppError, randomId } from '../../src/lib/index.ts';

/** A container as its program sees it. */
export interface FakeProcess {
  readonly spec: ContainerSpec;
  readonly stdin: Readable;
  stdout(text: string): void;
  stderr(text: string): void;
  exit(code: number): void;
  /** What a process does that wants more memory than there is. */
  runOutOfMemory(): void;
  /** Called on SIGTERM; without it the container ends at once. */
  onTerm(listener: () => void): void;
}

/** What a fake container does, in place of a command. */
export type FakeProgram = (process: FakeProcess) => void;

interface FakeContainer {
  readonly spec: ContainerSpec;
  readonly createdAt: string;
  readonly exit: Promise<ContainerExit>;
  readonly streams: { readonly stdin: PassThrough; readonly stdout: PassThrough; readonly stderr: PassThrough };
  readonly log: { readonly stream: 'stdout' | 'stderr'; readonly text: string }[];
  readonly printed: EventEmitter;
  startedAt: string | null;
  term: () => void;
  end: (exit: ContainerExit) => void;
}

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
const failed = (call: string, reason: string): AppError => new AppError('ENGINE_FAILED', { call, reason });

const hasLabels = (own: Labels, wanted: Labels): boolean =>
  Object.entries(wanted).every(([name, value]) => own[name] === value);

const imageOf = (id: string, labels: Labels): ImageInfo => ({
  id: `sha256:${id}`,
  labels,
  user: '',
  arch: 'amd64',
  bytes: 1000,
  createdAt: new Date().toISOString(),
});

type Part<Name extends keyof Engine> = Pick<Engine, Name>;

function imagesOf(machine: FakeEngineMachine): Part<'name' | 'info' | 'inspectImage' | 'buildImage' | 'removeImage'> {
  return {
    name: 'fake',
    info: async () => ({
      version: '1.0',
      os: 'linux',
      arch: 'amd64',
      cpus: 2,
      memoryBytes: 8e9,
      rootless: false,
      runtimes: ['runc'],
      limits: { memory: true, cpus: true, pids: true },
      endpoint: 'fake',
    }),
    inspectImage: async (tag) => machine.images.get(tag),
    buildImage: async (plan, onLine) => build(machine, plan, onLine),
    removeImage: async (tag) => void machine.images.delete(tag),
  };
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
    listVolumes: async (labels) => [...volumes].filter(([, own]) => hasLabels(own, labels)).map(([name]) => name),
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
    createContainer: async (spec) => create(machine, spec),
    startContainer: async (id) => {
      const container = containers.get(id);
      if (container === undefined) throw failed(`start container ${id}`, 'no such container');
      started.set(id, container.exit);
      if (container.startedAt === null) start(machine, id, container);
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
    if (signal?.aborted === true) reject(signal.reason as Error);
    signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}

function create({ images, containers }: FakeEngineMachine, spec: ContainerSpec): string {
  if (!images.has(spec.image)) throw new AppError('IMAGE_MISSING', { image: spec.image });
  for (const { spec: other } of containers.values()) {
    if (other.name === spec.name) throw new AppError('CONTAINER_NAME_TAKEN', { name: spec.name });
  }
  for (const mount of spec.mounts) {
    if (mount.kind !== 'bind' || existsSync(mount.source)) continue;
    throw failed(`create container ${spec.name}`, `bind source path does not exist: ${mount.source}`);
  }
  const id = createHash('sha256').update(randomId()).digest('hex');
  const { promise, resolve } = withResolvers<ContainerExit>();
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
  const container: FakeContainer = {
    spec,
    createdAt: new Date().toISOString(),
    exit: promise,
    streams,
    log: [],
    printed: new EventEmitter(),
    startedAt: null,
    term: () => container.end({ code: 143, oomKilled: false }),
    end: (exit) => {
      if (!containers.delete(id)) return;
      streams.stdout.end();
      streams.stderr.end();
      container.printed.emit('end', exit);
      resolve(exit);
    },
  };
  containers.set(id, container);
  return id;
}

function withResolvers<Value>(): { promise: Promise<Value>; resolve: (value: Value) => void } {
  let resolve: ((value: Value) => void) | undefined;
  const promise = new Promise<Value>((done) => (resolve = done));
  return { promise, resolve: (value) => resolve?.(value) };
}

function start(machine: FakeEngineMachine, id: string, container: FakeContainer): void {
  const { spec, streams, log, printed } = container;
  const tell = (kind: ContainerEvent['kind'], exitCode: number | null = null): void => {
    machine.events.emit('event', { kind, id, labels: spec.labels, exitCode });
  };
  const print = (stream: 'stdout' | 'stderr', text: string): void => {
    log.push({ stream, text });
    streams[stream].write(text);
    printed.emit('print', stream, text);
  };
  container.startedAt = new Date().toISOString();
  printed.once('end', ({ code }: ContainerExit) => tell('die', code));
  tell('start');
  machine.program({
    spec,
    stdin: streams.stdin,
    stdout: (text) => print('stdout', text),
    stderr: (text) => print('stderr', text),
    exit: (code) => container.end({ code, oomKilled: false }),
    runOutOfMemory: () => {
      tell('oom');
      container.end({ code: 137, oomKilled: true });
    },
    onTerm: (listener) => {
      container.term = listener;
    },
  });
}

function infoOf(id: string, { spec, startedAt, createdAt }: FakeContainer): ContainerInfo {
  const { name, labels, image } = spec;
  const status = startedAt === null ? 'created' : 'running';
  return { id, name, labels, image, status, exitCode: null, oomKilled: false, startedAt, createdAt };
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
      if (!follow) return;
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
