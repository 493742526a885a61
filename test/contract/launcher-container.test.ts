import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '../../src/engines/index.ts';
import { createContainerLauncher } from '../../src/launchers/index.ts';
import type { ContainerSettings, Launcher, WorkerHandle } from '../../src/launchers/index.ts';
import { randomId } from '../../src/lib/index.ts';
import { credentials, handover } from '../../src/protocol/index.ts';
import { newBuild } from '../support/containers.ts';
import { dockerForTests } from '../support/docker.ts';
import type { FakeProgram } from '../support/fake-container.ts';
import { createFakeEngine, createFakeEngineMachine, takeDown } from '../support/fake-engine.ts';
import { mountSmallDisk } from '../support/small-disk.ts';
import { waitUntil } from '../support/wait-until.ts';
import { sparesContract } from './spares-contract.ts';
import { LONG_GRACE, launcherContract, newSpec, waitForLine } from './launcher-contract.ts';

const docker = await dockerForTests();
const workerProgram = fileURLToPath(new URL('../support/contract-worker.mjs', import.meta.url));
const image = `mahabharatha-test:${randomId()}`;
/** Only root may mount one. */
const smallDisk = docker.why === '' ? mountSmallDisk(256) : undefined;
const SECRET = 'a-secret-of-the-agent';
const REPO = `/somewhere/${randomId()}`;

const settings = (more: Partial<ContainerSettings> = {}): ContainerSettings => ({
  owner: 'run',
  image,
  leaseMs: 600_000,
  repo: REPO,
  uid: 4711,
  gid: 4712,
  memoryBytes: 256 * 1024 ** 2,
  cpus: 1,
  pids: 100,
  tmpfsBytes: 16 * 1024 ** 2,
  diskBytes: 64 * 1024 ** 2,
  network: 'none',
  egress: null,
  mounts: [],
  caches: [],
  runtime: null,
  secrets: [],
  accesses: new Map([
    ['mine', { agent: { env: { AGENT_KEY: SECRET }, files: [] }, secrets: [SECRET], injected: false }],
  ]),
  withheld: [],
  ...more,
});

const launcherOn = (engine: Engine, more?: Partial<ContainerSettings>, outageMs = 30_000): Launcher =>
  createContainerLauncher({
    engine,
    settings: settings(more),
    startSweeper: () => ({ close: () => undefined }),
    outageMs,
  });

/** The same words that `contract-worker.mjs` understands. */
const contractProgram: FakeProgram = ({ stdin, stdout, exit, onTerm }) => {
  stdin.setEncoding('utf8').once('data', (line: string) => {
    const { CONTRACT_PRINT, CONTRACT_EXIT, CONTRACT_TERM } = handover.parse(JSON.parse(line)).env;
    onTerm(() => {
      stdout('asked to stop\n');
      if (CONTRACT_TERM !== 'ignore') exit(Number(CONTRACT_TERM ?? 0));
    });
    if (CONTRACT_PRINT !== undefined) stdout(`${CONTRACT_PRINT}\n`);
    if (CONTRACT_EXIT !== undefined) return exit(Number(CONTRACT_EXIT));
    stdout('ready\n');
  });
};

const idOf = (handle: WorkerHandle): string => handle.containerId ?? '';

launcherContract('containers on a fake engine', () => {
  const machine = createFakeEngineMachine(contractProgram, [image]);
  const engine = createFakeEngine(machine);
  return {
    launcher: launcherOn(engine),
    again: () => launcherOn(createFakeEngine(machine)),
    kill: (handle) => void engine.signalContainer(idOf(handle), 'SIGKILL'),
  };
});

const namesIn = async (engine: Engine, runId: string): Promise<string[]> =>
  (await engine.listContainers({ 'mahabharatha.run': runId })).map(({ name }) => name);

const killAllIn = async (engine: Engine, runId: string): Promise<void> => {
  for (const { id } of await engine.listContainers({ 'mahabharatha.run': runId }))
    await engine.signalContainer(id, 'SIGKILL');
};

sparesContract('containers on a fake engine', () => {
  const machine = createFakeEngineMachine(contractProgram, [image]);
  const engine = createFakeEngine(machine);
  return {
    launcher: launcherOn(engine),
    again: () => launcherOn(createFakeEngine(machine)),
    names: (runId) => namesIn(engine, runId),
    killAll: (runId) => killAllIn(engine, runId),
  };
});

describe('the stdin of a worker in a container', () => {
  const lines: string[] = [];
  const listening: FakeProgram = ({ stdin, stdout, onTerm, exit }) => {
    onTerm(() => exit(0));
    stdin.setEncoding('utf8').on('data', (text: string) => lines.push(...text.split('\n').slice(0, -1)));
    stdout('ready\n');
  };
  const machine = createFakeEngineMachine(listening, [image]);

  it('brings no secret of the agent with the first line, and one more line for each attempt that has credentials', async () => {
    const launcher = launcherOn(createFakeEngine(machine));
    const handle = await launcher.start(newSpec(launcher));
    await waitUntil('the first line is there', () => lines.length === 1);
    expect(handover.parse(JSON.parse(lines[0] ?? ''))).toMatchObject({ secrets: [] });
    expect(lines.join()).not.toContain(SECRET);
    expect(launcher.takesCredentials(handle)).toBe(true);
    for (const [index, attempt] of ['A.1', 'B.7'].entries()) {
      launcher.giveCredentials(handle, attempt, 'mine');
      await waitUntil('another line is there', () => lines.length === index + 2);
      const given = {
        version: 2,
        attempt,
        agent: { env: { AGENT_KEY: SECRET }, files: [], model: null },
        secrets: [SECRET],
      };
      expect(credentials.parse(JSON.parse(lines[index + 1] ?? ''))).toEqual(given);
    }
  });

  it('takes no credentials from a launcher that has not started the worker, or after its end', async () => {
    const launcher = launcherOn(createFakeEngine(machine));
    const known = lines.length;
    const handle = await launcher.start(newSpec(launcher));
    await waitUntil('the first line is there', () => lines.length > known);
    const later = launcherOn(createFakeEngine(machine));
    expect(await later.recover(handle)).toBe(true);
    expect([launcher.takesCredentials(handle), later.takesCredentials(handle)]).toEqual([true, false]);
    const before = lines.length;
    later.giveCredentials(handle, 'A.1', 'mine');
    await launcher.stop(handle, LONG_GRACE);
    expect([launcher.takesCredentials(handle), lines.length]).toEqual([false, before]);
  });
});

describe('the container launcher, when the engine goes away', () => {
  it('reports the outage to each caller that waits, starts or stops', async () => {
    const machine = createFakeEngineMachine(contractProgram, [image]);
    const launcher = launcherOn(createFakeEngine(machine), {}, 0);
    const handle = await launcher.start(newSpec(launcher));
    await waitForLine(launcher, handle, 'ready');
    takeDown(machine);
    const gone = { code: 'ENGINE_UNREACHABLE' };
    await expect(launcher.stop(handle, LONG_GRACE)).rejects.toMatchObject(gone);
    await expect(launcher.start({ ...newSpec(launcher), worker: 7 })).rejects.toMatchObject(gone);
    machine.up = true;
  });

  it('waits until the engine is back before it starts a worker, or counts one as lost', async () => {
    const machine = createFakeEngineMachine(contractProgram, [image]);
    const launcher = launcherOn(createFakeEngine(machine));
    const handle = await launcher.start(newSpec(launcher));
    takeDown(machine);
    const other = launcher.start({ ...newSpec(launcher), worker: 7 });
    const exit = launcher.wait(handle);
    machine.up = true;
    await waitForLine(launcher, await other, 'ready');
    await launcher.stop(handle, LONG_GRACE);
    expect(await exit).toMatchObject({ code: 0 });
  });
});

describe.skipIf(docker.why !== '')(`on a real engine${docker.why === '' ? '' : ` (${docker.why})`}`, () => {
  const { engine } = docker;
  beforeAll(async () => {
    const steps = ['COPY worker.mjs /worker.mjs', 'ENTRYPOINT ["/bin/sh", "-c", "exec node /worker.mjs"]'];
    const build = newBuild(docker.image, steps, { tag: image });
    const program = { path: 'worker.mjs', content: readFileSync(workerProgram), mode: 0o644 };
    await engine.buildImage({ ...build, files: [...build.files, program] }, () => undefined);
  });
  afterAll(async () => {
    smallDisk?.remove();
    for (const { id } of await engine.listContainers({ 'mahabharatha.repo': REPO })) await engine.removeContainer(id);
    await engine.removeImage(image);
  });

  launcherContract('containers on Docker', () => ({
    launcher: launcherOn(docker.engine),
    again: () => launcherOn(docker.again()),
    kill: (handle) => void docker.engine.signalContainer(idOf(handle), 'SIGKILL'),
  }));

  sparesContract('containers on Docker', () => ({
    launcher: launcherOn(docker.engine),
    again: () => launcherOn(docker.again()),
    names: (runId) => namesIn(docker.engine, runId),
    killAll: (runId) => killAllIn(docker.engine, runId),
  }));

  it('ends a worker that keeps more on the disk than it may, and says how much', async () => {
    const launcher = launcherOn(engine, { diskBytes: 1024 ** 2 });
    const spec = newSpec(launcher);
    const handle = await launcher.start(spec);
    await waitForLine(launcher, handle, 'ready');
    // At once, so that no part of it is measured.
    const big = path.join(path.dirname(spec.worktree), 'big');
    writeFileSync(big, Buffer.alloc(4 * 1024 ** 2, 1));
    renameSync(big, path.join(spec.worktree, 'big'));
    expect(await launcher.wait(handle)).toMatchObject({
      overLimit: expect.stringMatching(/hold 4(\.\d)? MiB on the disk, the limit is 1 MiB/),
    });
  });

  it('counts deleted files that a worker has open, too', async () => {
    const launcher = launcherOn(engine, { diskBytes: 8 * 1024 ** 2 });
    const spec = newSpec(launcher);
    chmodSync(spec.worktree, 0o777);
    const handle = await launcher.start(spec);
    await waitForLine(launcher, handle, 'ready');
    // Each file is allowed, and gone at once from every folder.
    const hide = `for n in 3 4 5; do eval "exec $n> big"; head -c 7000000 /dev/zero >&$n; rm big; done; sleep 600`;
    execFileSync('docker', ['exec', '--detach', idOf(handle), '/bin/bash', '-c', hide]);
    expect(await launcher.wait(handle)).toMatchObject({
      overLimit: expect.stringMatching(/hold \d+(\.\d)? MiB on the disk, the limit is 8 MiB/),
    });
  });

  it.skipIf(smallDisk === undefined)(
    'ends the worker that fills the disk at once, before other workers fail',
    async () => {
      const launcher = launcherOn(engine, { diskBytes: 1024 ** 3 });
      const started = await Promise.all(
        [1, 2].map(async (worker) => {
          const worktree = path.join(smallDisk?.folder ?? '', `${worker}`);
          mkdirSync(worktree);
          const spec = { ...newSpec(launcher), worker: 90 + worker, worktree };
          return { worktree, handle: await launcher.start(spec) };
        }),
      );
      const [innocent, hostile] = started as [(typeof started)[0], (typeof started)[0]];
      for (const { handle } of started) await waitForLine(launcher, handle, 'ready');
      writeFileSync(path.join(innocent.worktree, 'work'), Buffer.alloc(1024 ** 2, 1));
      execFileSync('docker', ['exec', idOf(hostile.handle), '/usr/bin/fallocate', '-l', '180M', 'big']);
      expect(await launcher.wait(hostile.handle)).toMatchObject({
        overLimit: expect.stringMatching(
          /^killed: \d+(\.\d)? MiB were left on the disk of its folders, and it had grown most, by 180 MiB/,
        ),
      });
      await waitUntil('there is room again', () => !existsSync(path.join(hostile.worktree, 'big')));
      expect(await launcher.recover(innocent.handle)).toBe(true);
      expect(readdirSync(innocent.worktree)).toEqual(['work']);
      await launcher.stop(innocent.handle, LONG_GRACE);
    },
  );

  it('takes another name when the usual one is taken, and leaves the other container alone', async () => {
    const launcher = launcherOn(engine);
    const spec = { ...newSpec(launcher), worker: 93 };
    const first = await launcher.start(spec);
    const second = await launcher.start({ ...spec, session: randomId(), runId: `run-${randomId()}` });
    // Another suite on the same engine may have the usual name.
    expect(first.facts['name']).toMatch(/^mahabharatha-worker-93(-|$)/);
    expect(second.facts['name']).toMatch(/^mahabharatha-worker-93-run-/);
    expect(await launcher.recover(first)).toBe(true);
    await launcher.sweep(second.runId);
    expect(await launcher.recover(first)).toBe(true);
  });

  it('keeps secrets out of the log and out of what inspect shows', async () => {
    const launcher = launcherOn(engine);
    const spec = newSpec(launcher, { CONTRACT_PRINT: `here it is: ${SECRET}!` });
    const handle = await launcher.start(spec);
    await waitForLine(launcher, handle, 'here it is: [redacted]!');
    expect(execFileSync('docker', ['inspect', idOf(handle)], { encoding: 'utf8' })).not.toContain(SECRET);
    expect(readFileSync(spec.log, 'utf8')).not.toContain(SECRET);
  });

  it('continues the log of a worker that another process has started, without a gap or a double line', async () => {
    const first = launcherOn(engine);
    const spec = newSpec(first, { CONTRACT_PRINT: 'one\ntwo', CONTRACT_TERM: '0' });
    const handle = await first.start(spec);
    await waitForLine(first, handle, 'ready');
    const later = launcherOn(docker.again());
    // As if the first one had been killed before it wrote the rest.
    writeFileSync(spec.log, 'one\n');
    expect(await later.recover(handle)).toBe(true);
    await waitUntil('the log is whole', () => readFileSync(spec.log, 'utf8') === 'one\ntwo\nready\n');
  });
});
