import { mkdirSync, renameSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Launcher, Spare, WorkerSpec } from '../../src/launchers/index.ts';
import { randomId } from '../../src/lib/index.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { SHORT_GRACE, newSpec, waitForLine } from './launcher-contract.ts';
import type { Behaviour, LauncherUnderTest } from './launcher-contract.ts';

export interface SparesUnderTest extends Pick<LauncherUnderTest, 'launcher' | 'again'> {
  /** Names of the run's containers. */
  names(runId: string): Promise<string[]>;
  /** Ends all of the run from outside. */
  killAll(runId: string): Promise<void>;
}

interface Waiting {
  readonly spec: WorkerSpec;
  readonly spare: Spare;
  /** Gives the spare's folders to the worker, as the orchestrator does. */
  move(): void;
}

/** What each launcher does that has spares. */
export function sparesContract(name: string, make: () => SparesUnderTest): void {
  describe(`the contract of spares: ${name}`, () => {
    let under: SparesUnderTest;
    let launcher: Launcher;
    beforeEach(() => {
      under = make();
      launcher = under.launcher;
    });

    const makeSpare = async (behaviour: Behaviour = {}): Promise<Waiting> => {
      const spec = newSpec(launcher, behaviour);
      const { now, move } = elsewhere(spec);
      const spare = await launcher.spares?.make(spec, now);
      if (spare === undefined) throw new Error('it has no spares');
      return { spec, spare, move };
    };

    it('waits without a name of a worker, and is none; taken, it is the worker that was described', async () => {
      const { spec, spare, move } = await makeSpare({ CONTRACT_PRINT: 'mine', CONTRACT_TERM: '7' });
      expect(await launcher.list(spec.runId)).toEqual([]);
      expect(await under.names(spec.runId)).toEqual([expect.stringMatching(/^mahabharatha-spare-3/)]);
      move();
      const handle = await spare.take(spec);
      if (handle === undefined) throw new Error('it was not taken');
      expect(handle).toMatchObject({ worker: 3, session: spec.session, runId: spec.runId });
      await waitForLine(launcher, handle, 'ready');
      expect(await launcher.logs(handle, 2)).toEqual(['mine', 'ready']);
      expect(await under.names(spec.runId)).toEqual([expect.stringMatching(/^mahabharatha-worker-3/)]);
      expect(launcher.takesCredentials(handle)).toBe(true);
      const later = under.again();
      expect(await later.list(spec.runId)).toEqual([handle]);
      expect(await later.recover(handle)).toBe(true);
      expect(await launcher.stop(handle, { graceMs: 30_000 })).toEqual({ code: 7, signal: null });
    });

    it('is not taken for a worker that needs other folders below its own; then nothing of it is left', async () => {
      const { spec, spare, move } = await makeSpare();
      move();
      const layers = { snapshot: 'another', lower: [spec.shared], work: spec.inbox };
      expect(await spare.take({ ...spec, layers })).toBeUndefined();
      expect(await under.names(spec.runId)).toEqual([]);
    });

    it('that ends while it waits is known to be gone, and is not taken', async () => {
      const { spec, spare, move } = await makeSpare();
      await under.killAll(spec.runId);
      await spare.gone;
      move();
      expect(await spare.take(spec)).toBeUndefined();
      expect(await under.names(spec.runId)).toEqual([]);
    });

    it('that is removed leaves nothing, and a second time too', async () => {
      const { spec, spare } = await makeSpare();
      await spare.remove();
      await spare.gone;
      await spare.remove();
      expect(await under.names(spec.runId)).toEqual([]);
    });

    it('goes with the sweep of its run; and alone, when another process sweeps what waits', async () => {
      const { spec } = await makeSpare();
      const worker = await launcher.start({ ...newSpec(launcher, {}, spec.runId), worker: 4 });
      const later = under.again();
      await later.spares?.sweep(spec.runId);
      expect(await under.names(spec.runId)).toEqual([expect.stringMatching(/^mahabharatha-worker-4/)]);
      await launcher.stop(worker, SHORT_GRACE);
      const { spec: other } = await makeSpare();
      await later.sweep(other.runId);
      expect(await under.names(other.runId)).toEqual([]);
    });
  });
}

/** The same worker with folders in another place. */
function elsewhere(spec: WorkerSpec): { now: WorkerSpec; move(): void } {
  const top = tempFolder();
  const moved = (['worktree', 'inbox', 'outbox'] as const).map((name) => {
    const folder = path.join(top, name);
    mkdirSync(folder);
    return [name, folder] as const;
  });
  return {
    now: { ...spec, ...Object.fromEntries(moved) },
    move: () => {
      for (const [name, folder] of moved) {
        renameSync(spec[name], `${folder}-${randomId()}`);
        renameSync(folder, spec[name]);
      }
    },
  };
}
