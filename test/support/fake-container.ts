import { createHash } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { existsSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import type { Readable } from 'node:stream';
import { engineErrors } from '../../src/engines/errors.ts';
import type { ContainerExit, ContainerInfo, ContainerSpec } from '../../src/engines/index.ts';
import { randomId } from '../../src/lib/index.ts';
import type { AppError } from '../../src/lib/index.ts';
import { withResolvers } from './with-resolvers.ts';

/** What a fake container needs of its machine. */
interface Machine {
  readonly program: FakeProgram;
  readonly images: ReadonlyMap<string, unknown>;
  readonly containers: Map<string, FakeContainer>;
}

/** A container as its program sees it. */
export interface FakeProcess {
  readonly spec: ContainerSpec;
  readonly stdin: Readable;
  stdout(text: string): void;
  stderr(text: string): void;
  exit(code: number): void;
  /** Ends the container as when its memory is used up. */
  runOutOfMemory(): void;
  /** Called on SIGTERM; without it the container ends at once. */
  onTerm(listener: () => void): void;
}

/** Replaces the command of a container. */
export type FakeProgram = (process: FakeProcess) => void;

export interface FakeContainer {
  readonly spec: ContainerSpec;
  name: string;
  readonly createdAt: string;
  readonly exit: Promise<ContainerExit>;
  readonly streams: { readonly stdin: PassThrough; readonly stdout: PassThrough; readonly stderr: PassThrough };
  readonly log: { readonly stream: 'stdout' | 'stderr'; readonly text: string }[];
  readonly printed: EventEmitter;
  startedAt: string | null;
  term: () => void;
  end: (exit: ContainerExit) => void;
}

/** Makes the same checks as an engine before it creates a container. */
export function createFakeContainer({ images, containers }: Machine, spec: ContainerSpec): string {
  if (!images.has(spec.image)) throw engineErrors.IMAGE_MISSING({ image: spec.image });
  for (const other of containers.values()) {
    if (other.name === spec.name) throw engineErrors.CONTAINER_NAME_TAKEN({ name: spec.name });
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
    name: spec.name,
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

export function startFakeContainer(machine: Pick<Machine, 'program'>, container: FakeContainer): void {
  const { spec, streams, log, printed } = container;
  const print = (stream: 'stdout' | 'stderr', text: string): void => {
    log.push({ stream, text });
    streams[stream].write(text);
    printed.emit('print', stream, text);
  };
  container.startedAt = new Date().toISOString();
  machine.program({
    spec,
    stdin: streams.stdin,
    stdout: (text) => print('stdout', text),
    stderr: (text) => print('stderr', text),
    exit: (code) => container.end({ code, oomKilled: false }),
    runOutOfMemory: () => container.end({ code: 137, oomKilled: true }),
    onTerm: (listener) => {
      container.term = listener;
    },
  });
}

export function infoOf(id: string, { spec, name, startedAt, createdAt }: FakeContainer): ContainerInfo {
  const { labels } = spec;
  return { id, name, labels, status: startedAt === null ? 'created' : 'running', createdAt };
}

export const failed = (call: string, reason: string): AppError => engineErrors.ENGINE_FAILED({ call, reason });
