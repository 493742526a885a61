import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RecordedEvent } from '../../src/state/index.ts';
import { atEach, eventsSoFar, expectBuilt, killIfThere, sees, tracedTask } from '../support/chaos.ts';
import type { Chaos } from '../support/chaos.ts';
import { expectSound } from '../support/check-run.ts';

const BRANCH = 'mahabharatha/login/integration';

const times = (chaos: Chaos, type: RecordedEvent['type']): number =>
  eventsSoFar(chaos.project).filter((event) => event.type === type).length;

/** A is merged at once, B keeps the level open until the test lets it end; C is for the second level. */
async function waitingFeature(chaos: Chaos): Promise<string[]> {
  const { project, outside } = chaos;
  await project.config(
    'workers: { count: 2, lease: 10s }\ngates: [{ name: all, command: "sleep 0.3; test -f A.txt" }]\n',
  );
  const wait = `echo "B $$" >> '${outside}/ran'; until test -f '${outside}/go'; do sleep 0.02; done; echo "made by B" > B.txt`;
  await project.graph('login', [
    tracedTask(chaos, 'A', { level: 1, seconds: 0 }),
    tracedTask(chaos, 'B', { level: 1, run: wait }),
    tracedTask(chaos, 'C', { level: 2, dependencies: ['A', 'B'], seconds: 0 }),
  ]);
  return ['A', 'B', 'C'];
}

const go = (chaos: Chaos): Promise<void> => writeFile(path.join(chaos.outside, 'go'), '');

describe('while a run goes on', () => {
  it('git gc --prune=now removes nothing that the run still needs', async () => {
    await atEach(['running', 'killed', 'stopped'], String, async (chaos, how) => {
      const { project } = chaos;
      const tasks = await waitingFeature(chaos);
      const live = project.start('kurukshetra');
      await sees(live, () => times(chaos, 'task-merged') === 1);
      await sees(live, () => chaos.started('B'));
      if (how !== 'running') {
        killIfThere(live.pid, how === 'killed' ? 'SIGKILL' : 'SIGINT');
        await live.end;
      }
      project.git('gc', '--quiet', '--prune=now');
      await go(chaos);
      const going = how === 'running' ? live : project.start('kurukshetra', '--resume');
      await sees(going, () => times(chaos, 'gates-started') === 1);
      project.git('gc', '--quiet', '--prune=now');
      await expectBuilt(chaos, await going.end, tasks);
      expect(await chaos.timesRan('A')).toBe(1);
    });
  });

  it('the user may commit, switch branches and change files: the run has its own base', async () => {
    await atEach([1], String, async (chaos) => {
      const { project } = chaos;
      const tasks = await waitingFeature(chaos);
      const base = project.git('rev-parse', 'HEAD').trim();
      const live = project.start('kurukshetra');
      await sees(live, () => times(chaos, 'task-merged') === 1);
      await project.write('A.txt', 'the user has one as well\n');
      project.git('add', 'A.txt');
      project.git('commit', '--quiet', '--message', 'mine');
      project.git('switch', '--quiet', '--create', 'elsewhere');
      const tip = project.git('rev-parse', 'main').trim();
      await go(chaos);
      await expectBuilt(chaos, await live.end, tasks);
      expect(project.git('rev-parse', 'main', 'HEAD').trim().split('\n')).toEqual([tip, tip]);
      expect(project.git('merge-base', 'main', BRANCH).trim()).toBe(base);
      expect(await project.read('A.txt')).toBe('the user has one as well\n');
    });
  });

  it.each([
    ['junk', '{ "version": 1, "broken'],
    ['another version', '{ "version": 99 }'],
  ])('%s written into the state file by the user does not change the run', async (_name, text) => {
    await atEach([1], String, async (chaos) => {
      const { project } = chaos;
      const tasks = await waitingFeature(chaos);
      const live = project.start('kurukshetra');
      await sees(live, () => times(chaos, 'task-merged') === 1);
      await sees(live, () => chaos.started('B'));
      await project.write('.mahabharatha/state/login.json', text);
      await go(chaos);
      await expectBuilt(chaos, await live.end, tasks);
    });
  });

  it('an integration branch that the user has moved or deleted stops the run, which goes on when it is back', async () => {
    await atEach(['moved', 'deleted'], String, async (chaos, how) => {
      const { project } = chaos;
      const tasks = await waitingFeature(chaos);
      const live = project.start('kurukshetra');
      await sees(live, () => times(chaos, 'task-merged') === 1);
      const base = project.git('rev-parse', BRANCH).trim();
      if (how === 'moved') {
        const own = project.git('commit-tree', '-p', base, '-m', 'by hand', `${base}^{tree}`).trim();
        project.git('branch', '--force', BRANCH, own);
      } else project.git('branch', '--delete', '--force', BRANCH);
      await go(chaos);
      const end = await live.end;
      expect(end.exit, end.stderr).toBe(1);
      expect(end.stderr).toContain(`The branch ${BRANCH} was moved by someone else`);
      expect(await project.processes()).toEqual([]);
      expect((await project.state()).status).toBe('stopped');
      const command = /git update-ref \S+ [0-9a-f]+/.exec(end.stderr)?.[0].split(' ').slice(1) ?? [];
      project.git(...command);
      await expectBuilt(chaos, await project.cli('kurukshetra', '--resume'), tasks);
      expect((await chaos.ran()).map(({ task }) => task).toSorted(), 'nothing is done twice').toEqual(tasks);
    });
  });
});

describe('a task that tries to outlive its run', () => {
  it('has no process left after it', async () => {
    await atEach([1], String, async (chaos) => {
      const { project } = chaos;
      await project.config('workers: { count: 2 }\n');
      const deaf = `trap "" TERM INT HUP QUIT; while :; do sleep 1; done`;
      const stay = [
        `(setsid bash -c '${deaf}' &)`,
        `nohup bash -c '${deaf}' > /dev/null 2>&1 &`,
        `bash -c 'bash -c "(setsid sleep 500 &) ; sleep 500" &' < /dev/null > /dev/null 2>&1 &`,
        `echo "A $$" >> '${chaos.outside}/ran'; echo "made by A" > A.txt`,
      ].join('\n');
      await project.graph('login', [
        tracedTask(chaos, 'A', { level: 1, run: stay }),
        tracedTask(chaos, 'B', { level: 2, dependencies: ['A'], verify: `(setsid bash -c '${deaf}' &) ; true` }),
      ]);
      await expectBuilt(chaos, await project.cli('kurukshetra'), ['A', 'B']);
    });
  });

  it('and kills its worker each time fails after five workers, and the run says so', async () => {
    await atEach(['at once', 'later'], String, async (chaos, when) => {
      const { project } = chaos;
      await project.config('workers: { count: 2, lease: 10s }\n');
      const kill = `echo "K $$" >> '${chaos.outside}/ran'; ${when === 'later' ? 'sleep 0.3;' : ''} kill -9 $PPID; sleep 60`;
      await project.graph('login', [
        tracedTask(chaos, 'K', { level: 1, run: kill }),
        tracedTask(chaos, 'A', { level: 1, seconds: 0 }),
        tracedTask(chaos, 'N', { level: 2, dependencies: ['K'] }),
        tracedTask(chaos, 'M', { level: 2, dependencies: ['A'], seconds: 0 }),
      ]);
      const end = await project.cli('kurukshetra');
      expect(end.exit, end.stdout + end.stderr).toBe(1);
      expect(await chaos.timesRan('K')).toBe(5);
      expect(await project.state()).toMatchObject({
        status: 'failed',
        tasks: {
          K: { status: 'failed', losses: 5, failures: 0, cause: expect.stringContaining('its worker died 5 times') },
          A: { status: 'complete', merged: true },
          N: { status: 'blocked' },
          M: { status: 'complete', merged: true },
        },
      });
      expect(end.stdout).toContain('its worker died 5 times; last: worker');
      expect(await project.processes()).toEqual([]);
      expectSound(project, `a worker was killed five times: ${when}`);
    });
  });
});
