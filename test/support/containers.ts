import { once } from 'node:events';
import type { ContainerSpec, Engine, ImageBuild } from '../../src/engines/index.ts';
import { randomId } from '../../src/lib/index.ts';
import { waitUntil } from './wait-until.ts';

/** The label of all that this run of the tests has made. */
export const MARK = { 'mahabharatha.test': randomId() };

export function newSpec(image: string, shell: string, more: Partial<ContainerSpec> = {}): ContainerSpec {
  return {
    name: `mahabharatha-test-${randomId()}`,
    image,
    command: ['bash', '-c', shell],
    env: {},
    uid: 4711,
    gid: 4712,
    workdir: '/',
    labels: MARK,
    mounts: [],
    network: 'none',
    memoryBytes: 64_000_000,
    cpus: 1,
    pids: 50,
    fileBytes: 1_000_000_000,
    stdin: true,
    runtime: null,
    logBytes: 1_000_000,
    ...more,
  };
}

export function newBuild(image: string, steps: readonly string[], more: Partial<ImageBuild> = {}): ImageBuild {
  const dockerfile = [`FROM ${image}`, `LABEL mahabharatha.test=${MARK['mahabharatha.test']}`, ...steps].join('\n');
  return {
    tag: `mahabharatha-test:${randomId()}`,
    files: [{ path: 'Dockerfile', content: Buffer.from(dockerfile), mode: 0o644 }],
    dockerfile: 'Dockerfile',
    buildArgs: {},
    labels: MARK,
    platform: null,
    noCache: false,
    ...more,
  };
}

/** A started container with its attachment, and its output so far. */
export interface LiveContainer {
  readonly id: string;
  readonly out: { stdout: string; stderr: string };
  write(text: string): void;
  end(): void;
  close(): void;
  printed(text: string): Promise<void>;
  /** All of its output is there: that it has ended may be known sooner. */
  readonly closed: Promise<unknown>;
}

export async function startContainer(engine: Engine, spec: ContainerSpec): Promise<LiveContainer> {
  const id = await engine.createContainer(spec);
  const { stdin, stdout, stderr, close } = await engine.attach(id);
  const out = { stdout: '', stderr: '' };
  stdout.setEncoding('utf8').on('data', (text: string) => (out.stdout += text));
  stderr.setEncoding('utf8').on('data', (text: string) => (out.stderr += text));
  const closed = Promise.all([once(stdout, 'end'), once(stderr, 'end')]);
  // An attachment that breaks matters only to a test that waits for its end.
  closed.catch(() => undefined);
  await engine.startContainer(id);
  return {
    id,
    out,
    write: (text) => void stdin.write(text),
    end: () => void stdin.end(),
    close,
    closed,
    printed: (text) =>
      waitUntil(`"${text}" is printed; so far: ${JSON.stringify(out)}`, () => out.stdout.includes(text)),
  };
}

/** Removes all containers, volumes and given images of this run of the tests. */
export async function removeAll(engine: Engine, tags: readonly string[]): Promise<void> {
  for (const { id } of await engine.listContainers(MARK)) await engine.removeContainer(id);
  for (const { name } of await engine.listVolumes(MARK)) await engine.removeVolume(name);
  for (const tag of tags) await engine.removeImage(tag);
}
