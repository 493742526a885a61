import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { eventsSoFar, expectBuilt, sees, standardFeature, stateSoFar, withChaos } from '../support/chaos.ts';
import type { Chaos } from '../support/chaos.ts';
import { expectSound } from '../support/check-run.ts';

/** As `ulimit -n` before its start would have it, but from now on: the worker can open nothing more. */
function takeDescriptors(pid: number): void {
  const open = readdirSync(`/proc/${pid}/fd`).length;
  execFileSync('prlimit', ['--pid', String(pid), `--nofile=${open}`]);
}

const eventOf = ({ project }: Chaos, type: string) => eventsSoFar(project).find((event) => event.type === type);

describe('a worker without file descriptors costs its task a worker and no failure, and the run goes on', () => {
  it.each([
    ['while a task is at work', 'attempt-started'],
    ['while a task is verified', 'attempt-verifying'],
    ['while gates run', 'gates-started'],
  ])('%s', async (_when, moment) => {
    await withChaos(async (chaos) => {
      const { project } = chaos;
      // Long enough to be seen: the run looks at its workers now and then.
      const tasks = await standardFeature(chaos, '2s', moment === 'attempt-verifying' ? { verifySeconds: 3 } : {});
      const live = project.start('kurukshetra');
      expect(await sees(live, () => eventOf(chaos, moment) !== undefined)).toBe(true);
      const pids = Object.values(stateSoFar(project)?.workers ?? {}).map(({ pid }) => pid ?? 0);
      for (const pid of pids) takeDescriptors(pid);

      await expectBuilt(chaos, await live.end, tasks);
      const ends = eventsSoFar(project).flatMap((event) => (event.type === 'attempt-failed' ? [event.charge] : []));
      expect(ends.filter((charge) => charge !== 'loss')).toEqual([]);
      expect(eventsSoFar(project).filter(({ type }) => type === 'worker-exited').length).toBeGreaterThan(0);
      expectSound(project, moment);
    });
  });
});
