import { describe, expect, it } from 'vitest';
import { expectSound } from '../support/check-run.ts';
import { atEach, eventsSoFar, expectBuilt, sees, standardFeature, tracedTask } from '../support/chaos.ts';
import type { Chaos } from '../support/chaos.ts';

const FEATURES = Array.from({ length: 20 }, (_, index) => `feature-${index + 1}`);

/** Three trivial tasks in two levels. */
async function smallFeature(chaos: Chaos, feature: string): Promise<void> {
  await chaos.project.graph(feature, [
    tracedTask(chaos, 'A', { level: 1, seconds: 0 }),
    tracedTask(chaos, 'B', { level: 1, seconds: 0 }),
    tracedTask(chaos, 'C', { level: 2, dependencies: ['A', 'B'], seconds: 0 }),
  ]);
}

describe('many runs at once', () => {
  it('of twenty features in one repository all complete, each on its own branch', async () => {
    await atEach([1], String, async (chaos) => {
      const { project } = chaos;
      await project.config('workers: { count: 1 }\n');
      for (const feature of FEATURES) await smallFeature(chaos, feature);
      const ends = await Promise.all(FEATURES.map((feature) => project.cli('kurukshetra', '--feature', feature)));
      expect(ends.flatMap(({ exit, stderr }) => (exit === 0 ? [] : [stderr])).join('\n')).toBe('');
      for (const feature of FEATURES) {
        const files = project.git('ls-tree', '--name-only', `mahabharatha/${feature}/integration`);
        expect(files.trim().split('\n')).toEqual(['A.txt', 'B.txt', 'C.txt', 'README.md']);
        expectSound(project, 'one of many', feature);
      }
      expect((await chaos.ran()).length).toBe(60);
    });
  });

  it('in two repositories do not disturb each other, even when one is interrupted', async () => {
    await atEach(['left alone', 'interrupted'], String, async (chaos, what) => {
      const tasks = await standardFeature(chaos, '10s');
      const live = chaos.project.start('kurukshetra');
      if (what === 'interrupted') {
        live.child.kill('SIGINT');
        await live.end;
        await expectBuilt(chaos, await chaos.project.cli('kurukshetra', ...resumeIfThere(chaos)), tasks);
      } else await expectBuilt(chaos, await live.end, tasks);
      expect((await chaos.ran()).length).toBe(4);
    });
  });

  it('of the same feature: one runs, the others are refused and name its process', async () => {
    await atEach([1], String, async (chaos) => {
      const { project } = chaos;
      const tasks = await standardFeature(chaos, '10s');
      const ends = await Promise.all(FEATURES.map(() => project.cli('kurukshetra')));
      const done = ends.filter(({ exit }) => exit === 0);
      expect(ends.map(({ exit }) => String(exit)).toSorted()).toEqual(['0', ...FEATURES.slice(1).map(() => '2')]);
      for (const { stderr, exit } of ends) {
        // One that comes late finds the run over; that is a refusal as well.
        if (exit === 2) expect(stderr).toMatch(/is already being built by process \d+|already has a run/);
      }
      await expectBuilt(chaos, done[0] ?? { exit: null, signal: null, stdout: '', stderr: 'none' }, tasks);
      expect((await chaos.ran()).length).toBe(4);
    });
  });

  it('that resume the same feature after a crash: one takes it, and nothing is done twice', async () => {
    await atEach([1], String, async (chaos) => {
      const { project } = chaos;
      const tasks = await standardFeature(chaos, '20s');
      const live = project.start('kurukshetra');
      await sees(live, () => chaos.started('A') && chaos.started('B'));
      live.child.kill('SIGKILL');
      await live.end;
      const ends = await Promise.all(FEATURES.slice(0, 10).map(() => project.cli('kurukshetra', '--resume')));
      const done = ends.filter(({ stdout }) => stdout.includes('run complete: 4 of 4'));
      expect(done.length, ends.map(({ stderr }) => stderr).join('\n')).toBeGreaterThanOrEqual(1);
      await expectBuilt(chaos, done[0] ?? { exit: null, signal: null, stdout: '', stderr: 'none' }, tasks);
      expect((await chaos.ran()).map(({ task }) => task).toSorted()).toEqual(tasks);
    });
  });
});

function resumeIfThere(chaos: Chaos): string[] {
  return eventsSoFar(chaos.project).length === 0 ? [] : ['--resume'];
}
