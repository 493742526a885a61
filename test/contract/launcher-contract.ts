import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Launcher, WorkerHandle, WorkerSpec } from '../../src/launchers/index.ts';
import { randomId } from '../../src/lib/index.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { waitUntil } from '../support/wait-until.ts';

/** Longer than anything takes that should end by itself. */
export const LONG_GRACE = { graceMs: 30_000 };
export const SHORT_GRACE = { graceMs: 100 };

export interface LauncherUnderTest {
  readonly launcher: Launcher;
  /** Another launcher that works on the same machine, as after a restart. */
  again(): Launcher;
  /** Ends the worker from outside, without asking. */
  kill(handle: WorkerHandle): void;
}

/** How the worker of a test behaves; `test/support/contract-worker.mjs` has the words. */
export interface Behaviour {
  readonly CONTRACT_PRINT?: string;
  readonly CONTRACT_EXIT?: string;
  readonly CONTRACT_TERM?: string;
  readonly CONTRACT_CHILDREN?: string;
}

/** A worker's folders and names; what was started for the run goes with the test. */
export function newSpec(launcher: Launcher, behaviour: Behaviour = {}, runId = `run-${randomId()}`): WorkerSpec {
  const folder = tempFolder();
  onTestFinished(async () => void (await launcher.sweep(runId)));
  const [worktree, inbox, outbox, shared] = ['work tree ü', 'inbox', 'outbox', 'shared'].map((name) => {
    mkdirSync(path.join(folder, name));
    return path.join(folder, name);
  }) as [string, string, string, string];
  return {
    runId,
    feature: 'x',
    worker: 3,
    session: randomId(),
    worktree,
    privateGit: null,
    layers: null,
    inbox,
    outbox,
    shared,
    log: path.join(folder, 'worker-3.jsonl'),
    env: { PATH: process.env['PATH'], ...behaviour },
  };
}

export async function waitForLine(launcher: Launcher, handle: WorkerHandle, line: string): Promise<void> {
  await waitUntil(`the worker prints "${line}"`, async () => (await launcher.logs(handle, 100)).includes(line));
}

const copyOf = (handle: WorkerHandle): WorkerHandle => JSON.parse(JSON.stringify(handle)) as WorkerHandle;

/** What every launcher does, whatever its workers run in. */
export function launcherContract(name: string, make: () => LauncherUnderTest): void {
  describe(`the launcher contract: ${name}`, () => {
    let under: LauncherUnderTest;
    let launcher: Launcher;
    beforeEach(() => {
      under = make();
      launcher = under.launcher;
    });

    const startReady = async (behaviour: Behaviour = {}, runId?: string): Promise<WorkerHandle> => {
      const handle = await launcher.start(newSpec(launcher, behaviour, runId));
      await waitForLine(launcher, handle, 'ready');
      return handle;
    };

    it('gives a handle of plain data that names run and worker', async () => {
      const spec = newSpec(launcher);
      const handle = await launcher.start(spec);
      expect(copyOf(handle)).toEqual(handle);
      expect(handle).toMatchObject({ launcher: launcher.name, runId: spec.runId, worker: 3, session: spec.session });
    });

    it.each([0, 1, 42])('tells each caller that waits, early or late, that the worker ended with %s', async (code) => {
      const handle = await launcher.start(newSpec(launcher, { CONTRACT_EXIT: String(code) }));
      const exit = { code, signal: null };
      expect(await Promise.all([launcher.wait(handle), launcher.wait(handle)])).toEqual([exit, exit]);
      expect(await launcher.wait(handle)).toEqual(exit);
    });

    it('tells that a worker was killed from outside', async () => {
      const handle = await startReady();
      under.kill(handle);
      expect(await launcher.wait(handle)).toEqual({ code: null, signal: 'SIGKILL' });
    });

    it('keeps what the worker prints, in order, also after its end', async () => {
      const spec = newSpec(launcher, { CONTRACT_PRINT: 'one\ntwo\nthree ü', CONTRACT_EXIT: '0' });
      const handle = await launcher.start(spec);
      await launcher.wait(handle);
      expect(await launcher.logs(handle, 2)).toEqual(['two', 'three ü']);
      expect(await launcher.logs(handle, 100)).toEqual(['one', 'two', 'three ü']);
      expect(await launcher.logs(handle, 0)).toEqual([]);
      expect(readFileSync(spec.log, 'utf8')).toBe('one\ntwo\nthree ü\n');
    });

    it('appends to the log of an earlier worker', async () => {
      const spec = newSpec(launcher, { CONTRACT_PRINT: 'line', CONTRACT_EXIT: '0' });
      await launcher.wait(await launcher.start(spec));
      const second = await launcher.start({ ...spec, session: randomId() });
      await launcher.wait(second);
      expect(await launcher.logs(second, 100)).toEqual(['line', 'line']);
    });

    it('asks a worker to stop, and lets it end by itself', async () => {
      const handle = await startReady({ CONTRACT_TERM: '7' });
      expect(await launcher.stop(handle, LONG_GRACE)).toEqual({ code: 7, signal: null });
      expect(await launcher.logs(handle, 1)).toEqual(['asked to stop']);
    });

    it('kills a worker that does not stop within the grace', async () => {
      const handle = await startReady({ CONTRACT_TERM: 'ignore' });
      expect(await launcher.stop(handle, SHORT_GRACE)).toEqual({ code: null, signal: 'SIGKILL' });
    });

    it('stops what has stopped already, and what is being stopped', async () => {
      const handle = await startReady({ CONTRACT_TERM: '0' });
      const exit = { code: 0, signal: null };
      const stops = [launcher.stop(handle, LONG_GRACE), launcher.stop(handle, LONG_GRACE)];
      expect(await Promise.all(stops)).toEqual([exit, exit]);
      expect(await launcher.stop(handle, LONG_GRACE)).toEqual(exit);
      await under.again().stop(copyOf(handle), LONG_GRACE);
    });

    it('recovers a live worker, and sees its end', async () => {
      const handle = copyOf(await startReady());
      const later = under.again();
      expect(await later.recover(handle)).toBe(true);
      expect(await later.logs(handle, 1)).toEqual(['ready']);
      const exit = later.wait(handle);
      under.kill(handle);
      await exit;
      expect(await later.recover(handle)).toBe(false);
    });

    it('stops a worker that an earlier launcher has started', async () => {
      const handle = copyOf(await startReady({ CONTRACT_TERM: '0' }));
      const later = under.again();
      await later.stop(handle, LONG_GRACE);
      expect(await later.recover(handle)).toBe(false);
      expect(await launcher.wait(handle)).toEqual({ code: 0, signal: null });
    });

    it('does not recover a worker that is gone, or another one in its place', async () => {
      const handle = await startReady();
      const later = under.again();
      const forged = { ...copyOf(handle), facts: { ...handle.facts, started: 'another time' } };
      expect(await later.recover(forged)).toBe(false);
      await launcher.stop(handle, LONG_GRACE);
      expect(await later.recover(copyOf(handle))).toBe(false);
    });

    it('lists the live workers of one run, also those without a handle', async () => {
      const [mine, other] = [`run-${randomId()}`, `run-${randomId()}`];
      const handles = [await startReady({}, mine), await startReady({}, mine)];
      await startReady({}, other);
      const dead = await startReady({}, mine);
      await launcher.stop(dead, LONG_GRACE);
      const later = under.again();
      const found = await later.list(mine);
      const sessions = found.map((handle) => handle.session).toSorted();
      expect(sessions).toEqual(handles.map((handle) => handle.session).toSorted());
      expect(found.map((handle) => [handle.runId, handle.worker, handle.launcher])).toEqual(
        handles.map(() => [mine, 3, launcher.name]),
      );
      for (const handle of found) {
        expect(await later.recover(handle)).toBe(true);
        await later.stop(copyOf(handle), LONG_GRACE);
      }
      expect(await later.list(mine)).toEqual([]);
      expect(await later.list(other)).toHaveLength(1);
    });

    it('sweeps all of one run, and nothing else', async () => {
      const [mine, other] = [`run-${randomId()}`, `run-${randomId()}`];
      const handles = [await startReady({}, mine), await startReady({ CONTRACT_TERM: 'ignore' }, mine)];
      const bystander = await startReady({}, other);
      const later = under.again();
      expect(await later.sweep(mine)).toBeGreaterThanOrEqual(2);
      for (const handle of handles) await launcher.wait(handle);
      expect(await later.list(mine)).toEqual([]);
      expect(await later.sweep(mine)).toBe(0);
      expect(await later.recover(copyOf(bystander))).toBe(true);
    });
  });
}
