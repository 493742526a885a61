import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createSubprocessLauncher } from '../../src/launchers/index.ts';
import type { Launcher, WorkerHandle } from '../../src/launchers/index.ts';
import { processStart, randomId } from '../../src/lib/index.ts';
import { asMacOs } from '../support/as-macos.ts';
import { createFakeLauncher, createFakeMachine } from '../support/fake-launcher.ts';
import type { FakeProgram } from '../support/fake-launcher.ts';
import { startNode } from '../support/node-process.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { waitUntil } from '../support/wait-until.ts';
import { LONG_GRACE, SHORT_GRACE, launcherContract, newSpec, waitForLine } from './launcher-contract.ts';

const workerProgram = fileURLToPath(new URL('../support/contract-worker.mjs', import.meta.url));
const subprocess = (): Launcher => createSubprocessLauncher({ node: process.execPath, workerProgram });

launcherContract('subprocess', () => ({
  launcher: subprocess(),
  again: subprocess,
  kill: (handle) => void process.kill(handle.pid ?? 0, 'SIGKILL'),
}));

launcherContract('fake', () => {
  const machine = createFakeMachine();
  return {
    launcher: createFakeLauncher(contractProgram, machine),
    again: () => createFakeLauncher(contractProgram, machine),
    kill: (handle) => machine.kill(handle.session),
  };
});

/** The same words that `contract-worker.mjs` understands. */
const contractProgram: FakeProgram = ({ spec, print, exit, onTerm }) => {
  const { CONTRACT_PRINT, CONTRACT_EXIT, CONTRACT_TERM } = spec.env;
  onTerm(() => {
    print('asked to stop');
    if (CONTRACT_TERM !== 'ignore') exit(Number(CONTRACT_TERM ?? 0));
  });
  if (CONTRACT_PRINT !== undefined) print(CONTRACT_PRINT);
  if (CONTRACT_EXIT !== undefined) return exit(Number(CONTRACT_EXIT));
  print('ready');
};

/** The processes that the worker has started, by what it printed. */
async function childrenOf(launcher: Launcher, handle: WorkerHandle): Promise<number[]> {
  let pids: number[] = [];
  await waitUntil('the worker has two children', async () => {
    const lines = await launcher.logs(handle, 100);
    pids = lines.filter((line) => line.startsWith('child ')).map((line) => Number(line.slice('child '.length)));
    return pids.length === 2;
  });
  return pids;
}

async function alive(pids: readonly number[]): Promise<number[]> {
  const started = await Promise.all(pids.map(processStart));
  return pids.filter((_, index) => started[index] !== undefined);
}

async function startWithChildren(
  launcher: Launcher,
  runId?: string,
): Promise<{ handle: WorkerHandle; children: number[] }> {
  const handle = await launcher.start(newSpec(launcher, { CONTRACT_CHILDREN: '1' }, runId));
  const children = await childrenOf(launcher, handle);
  expect(await alive(children)).toEqual(children);
  return { handle, children };
}

describe('the subprocess launcher, and what its workers start', () => {
  it.each([
    ['it is stopped', (launcher: Launcher, handle: WorkerHandle) => launcher.stop(handle, LONG_GRACE)],
    ['it is killed at once', (launcher: Launcher, handle: WorkerHandle) => launcher.stop(handle, { graceMs: 0 })],
    [
      'another process has killed it',
      (launcher: Launcher, handle: WorkerHandle) => {
        process.kill(handle.pid ?? 0, 'SIGKILL');
        return launcher.wait(handle);
      },
    ],
    [
      'a later launcher finds it dead',
      async (launcher: Launcher, handle: WorkerHandle) => {
        process.kill(handle.pid ?? 0, 'SIGKILL');
        await launcher.wait(handle);
        expect(await subprocess().recover(handle)).toBe(false);
      },
    ],
    ['its run is swept', (launcher: Launcher, handle: WorkerHandle) => launcher.sweep(handle.runId)],
  ])('leaves nothing of a worker when %s', async (_, end) => {
    const launcher = subprocess();
    const { handle, children } = await startWithChildren(launcher);
    await end(launcher, handle);
    expect(await alive([...children, handle.pid ?? 0])).toEqual([]);
  });

  it('ends what a dead worker left, also when no orchestrator has seen it end', async () => {
    const launcher = subprocess();
    const runId = `run-${randomId()}`;
    const spec = newSpec(launcher, { CONTRACT_CHILDREN: '1' }, runId);
    const other = startLauncherElsewhere({ ...spec, env: { ...spec.env } });
    const handle = await other.handle();
    const children = await childrenOf(launcher, handle);
    process.kill(other.pid, 'SIGKILL');
    process.kill(handle.pid ?? 0, 'SIGKILL');
    await waitUntil('the worker is dead', async () => (await alive([handle.pid ?? 0])).length === 0);
    expect(await alive(children)).toEqual(children);
    expect(await launcher.recover(handle)).toBe(false);
    expect(await alive(children)).toEqual([]);
  });

  it('lists a worker, not its children', async () => {
    const launcher = subprocess();
    const { handle } = await startWithChildren(launcher);
    expect((await launcher.list(handle.runId)).map(({ pid }) => pid)).toEqual([handle.pid]);
  });

  it('sweeps the children of a run whose workers are dead, and of no other', async () => {
    const launcher = subprocess();
    const runId = `run-${randomId()}`;
    const mine = await startWithChildren(launcher, runId);
    const other = await startWithChildren(launcher, `${runId}-2`);
    await subprocess().sweep(runId);
    expect(await alive(mine.children)).toEqual([]);
    expect(await alive([...other.children, other.handle.pid ?? 0])).toHaveLength(3);
  });

  it('recovers a worker that another process has started, and sees its end', async () => {
    const launcher = subprocess();
    const other = startLauncherElsewhere(newSpec(launcher, { CONTRACT_TERM: '0' }));
    const handle = await other.handle();
    await waitForLine(launcher, handle, 'ready');
    expect(await launcher.recover(handle)).toBe(true);
    expect(await launcher.stop(handle, LONG_GRACE)).toEqual({ code: null, signal: null });
    expect((await other.end).output).toContain('ended with {"code":0,"signal":null}');
  });

  it('kills a worker of another process that does not stop', async () => {
    const launcher = subprocess();
    const other = startLauncherElsewhere(newSpec(launcher, { CONTRACT_TERM: 'ignore', CONTRACT_CHILDREN: '1' }));
    const handle = await other.handle();
    const children = await childrenOf(launcher, handle);
    await launcher.stop(handle, SHORT_GRACE);
    expect(await alive([...children, handle.pid ?? 0])).toEqual([]);
    expect((await other.end).output).toContain('ended with {"code":null,"signal":"SIGKILL"}');
  });

  it("ends a worker's stdin when its orchestrator is killed", async () => {
    const launcher = subprocess();
    const other = startLauncherElsewhere(newSpec(launcher));
    const handle = await other.handle();
    await waitForLine(launcher, handle, 'ready');
    process.kill(other.pid, 'SIGKILL');
    await waitForLine(launcher, handle, 'stdin ended');
    await launcher.wait(handle);
  });

  it('gives a worker its folders, its own environment and the marks of its run, and nothing else', async () => {
    const program = path.join(tempFolder(), 'print.sh');
    writeFileSync(program, 'echo "$@"; pwd; env');
    const launcher = createSubprocessLauncher({ node: '/bin/sh', workerProgram: program });
    const { env, ...spec } = newSpec(launcher);
    const handle = await launcher.start({ ...spec, env: { ...env, MINE: 'yes' } });
    await launcher.wait(handle);
    const [args, folder, ...variables] = await launcher.logs(handle, 100);
    const { worktree, inbox, outbox, shared } = spec;
    expect(args).toBe(`--worktree ${worktree} --inbox ${inbox} --outbox ${outbox} --shared ${shared}`);
    expect(folder).toBe(worktree);
    expect(variables.filter((line) => !/^(PWD|OLDPWD|_|SHLVL)=/.test(line)).toSorted()).toEqual([
      `MAHABHARATHA_RUN=${spec.runId}`,
      `MAHABHARATHA_SESSION=${spec.session}`,
      'MAHABHARATHA_WORKER=3',
      'MINE=yes',
      `PATH=${process.env['PATH']}`,
    ]);
  });

  it('rejects when a worker cannot be started', async () => {
    const launcher = createSubprocessLauncher({ node: 'no-such-program', workerProgram });
    const spec = newSpec(launcher);
    await expect(launcher.start(spec)).rejects.toMatchObject({ code: 'PROCESS_NOT_STARTED', exit: 4 });
    expect(await launcher.list(spec.runId)).toEqual([]);
  });

  it('kills a worker at once of which it cannot be known when it was started: it could not be ended later', async () => {
    const { env } = asMacOs('kill -9 $$');
    const other = startNode(
      `import { createSubprocessLauncher } from './launchers/index.js';
       const launcher = createSubprocessLauncher({ node: process.execPath, workerProgram: process.env.WORKER_PROGRAM });
       await launcher.start(JSON.parse(process.env.SPEC)).catch(({ code }) => console.log(code));`,
      { ...env, SPEC: JSON.stringify(newSpec(subprocess())), WORKER_PROGRAM: workerProgram },
    );
    // It ends when its last child has.
    expect(await other.end).toEqual({ code: 0, signal: null, output: 'PROCESSES_UNSEEN\n' });
  });

  it('has no lines for a worker that it has found by its run, instead of lines of another file', async () => {
    const launcher = subprocess();
    const handle = await launcher.start(newSpec(launcher));
    await waitForLine(launcher, handle, 'ready');
    const [found] = await subprocess().list(handle.runId);
    if (found === undefined) throw new Error('the worker is not listed');
    expect(await launcher.logs(found, 10)).toEqual([]);
  });
});

/** A launcher in a process of its own, with one worker. */
function startLauncherElsewhere(spec: ReturnType<typeof newSpec>): {
  readonly pid: number;
  readonly end: Promise<{ output: string }>;
  handle(): Promise<WorkerHandle>;
} {
  const other = startNode(
    `import { createSubprocessLauncher } from './launchers/index.js';
     const launcher = createSubprocessLauncher({ node: process.execPath, workerProgram: process.env.WORKER_PROGRAM });
     const handle = await launcher.start(JSON.parse(process.env.SPEC));
     console.log('handle ' + JSON.stringify(handle));
     console.log('ended with ' + JSON.stringify(await launcher.wait(handle)));`,
    { SPEC: JSON.stringify(spec), WORKER_PROGRAM: workerProgram },
  );
  return {
    pid: other.pid,
    end: other.end,
    handle: async () => {
      await other.printed('}}\n');
      return JSON.parse(other.output().split('\n')[0]?.slice('handle '.length) ?? '') as WorkerHandle;
    },
  };
}
