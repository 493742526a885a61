import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  atEach,
  eventsSoFar,
  expectBuilt,
  killIfThere,
  sees,
  tracedTask,
  untilNothingIsLeft,
} from '../support/chaos.ts';
import type { Chaos, LiveRun } from '../support/chaos.ts';
import { waitFor } from '../support/project.ts';

/** A server of the agent's that has left its session and does not hear, and a command that goes on for ever. */
function clinging(chaos: Chaos, id: string): string {
  return [
    `trap '' TERM INT HUP`,
    `setsid bash -c 'trap "" TERM INT HUP; (setsid sleep 300 &) ; while :; do sleep 1; done' > /dev/null 2>&1 &`,
    `echo "${id} $$" >> '${chaos.outside}/ran'`,
    `test -f '${chaos.outside}/quick' || while :; do sleep 1; done`,
    `echo "made by ${id}" > ${id}.txt`,
  ].join('\n');
}

async function clingingFeature(chaos: Chaos): Promise<string[]> {
  await chaos.project.config('workers: { count: 3, lease: 5s }\n');
  const tasks = ['A', 'B', 'C'];
  await chaos.project.graph(
    'login',
    tasks.map((id) => tracedTask(chaos, id, { run: clinging(chaos, id) })),
  );
  return tasks;
}

async function startAndWaitForAll(chaos: Chaos): Promise<LiveRun> {
  const live = chaos.project.start('kurukshetra');
  await sees(live, () => ['A', 'B', 'C'].every((task) => chaos.started(task)));
  const counted = (wanted: string): number => eventsSoFar(chaos.project).filter(({ type }) => type === wanted).length;
  await sees(live, () => counted('attempt-started') === 3);
  // Of a worker whose start is not recorded yet the test would not know the pid.
  await sees(live, () => counted('worker-started') === 3);
  return live;
}

function killAll(chaos: Chaos, live: LiveRun): void {
  const pids = eventsSoFar(chaos.project).flatMap((event) => (event.type === 'worker-started' ? [event.pid ?? 0] : []));
  for (const pid of [live.pid, ...pids]) if (pid !== 0) killIfThere(pid, 'SIGKILL');
}

const letThemFinish = (chaos: Chaos): Promise<void> => writeFile(path.join(chaos.outside, 'quick'), '');

describe('when orchestrator and workers are killed together', () => {
  it('resume, stop and cleanup end what their tasks have started', async () => {
    await atEach(['--resume', 'stop', 'cleanup'], String, async (chaos, remedy) => {
      const { project } = chaos;
      const tasks = await clingingFeature(chaos);
      const live = await startAndWaitForAll(chaos);
      await waitFor('each task has its processes', async () => (await project.processes()).length > 12);
      killAll(chaos, live);
      await live.end;
      const orphans = await project.processes();
      expect(orphans.length, 'or the test shows nothing').toBeGreaterThan(6);
      const { runId } = await project.state();
      if (remedy === '--resume') {
        await letThemFinish(chaos);
        await expectBuilt(chaos, await project.cli('kurukshetra', '--resume'), tasks);
      } else if (remedy === 'stop') {
        const stop = await project.cli('stop');
        expect([stop.exit, stop.stdout]).toEqual([0, expect.stringContaining('processes that it had left')]);
        expect(await project.processes()).toEqual([]);
      } else {
        const cleanup = await project.cli('cleanup', '--yes');
        expect(cleanup.exit, cleanup.stderr).toBe(0);
        expect(project.git('worktree', 'list').trim().split('\n')).toHaveLength(1);
        expect(project.git('for-each-ref', 'refs/heads/mahabharatha', 'refs/mahabharatha')).toBe('');
      }
      expect(await chaos.processesOf(runId)).toEqual([]);
    });
  });

  it('the run goes on when resumed, also when no worker had become ready', async () => {
    await atEach([1, 2, 3, 4], String, async (chaos) => {
      const { project } = chaos;
      const tasks = await clingingFeature(chaos);
      await letThemFinish(chaos);
      const live = project.start('kurukshetra');
      await sees(live, () => eventsSoFar(project).filter(({ type }) => type === 'worker-starting').length === 3);
      killAll(chaos, live);
      await live.end;
      await untilNothingIsLeft(chaos);
      await expectBuilt(chaos, await project.cli('kurukshetra', '--resume'), tasks);
    });
  });
});

describe('when the orchestrator alone is killed', () => {
  it('its workers end themselves and everything that their tasks have started', async () => {
    await atEach([1], String, async (chaos) => {
      const tasks = await clingingFeature(chaos);
      const live = await startAndWaitForAll(chaos);
      killIfThere(live.pid, 'SIGKILL');
      await live.end;
      await untilNothingIsLeft(chaos);
      await letThemFinish(chaos);
      await expectBuilt(chaos, await chaos.project.cli('kurukshetra', '--resume'), tasks);
    });
  });

  it('status shows no dead worker as alive, also one that was just being started', async () => {
    await atEach(['worker-starting', 'attempt-started'] as const, String, async (chaos, moment) => {
      const { project } = chaos;
      await clingingFeature(chaos);
      const live = project.start('kurukshetra');
      await sees(live, () => eventsSoFar(project).some(({ type }) => type === moment));
      killIfThere(live.pid, 'SIGKILL');
      await live.end;
      const pids = await project.processes();
      for (const pid of pids) killIfThere(pid, 'SIGKILL');
      await untilNothingIsLeft(chaos);
      const status = JSON.parse((await project.cli('status', '--json')).stdout) as { workers: object; tasks: object };
      expect(JSON.stringify(status.workers)).not.toMatch(/"status":"(STARTING|RUNNING|IDLE)"/);
      expect(JSON.stringify(status.tasks)).not.toMatch(/"status":"(running|verifying)"/);
    });
  });
});

describe('an orchestrator that was stopped with SIGSTOP beyond the lease', () => {
  it('finds its workers gone when it goes on, starts them again, and completes', async () => {
    await atEach([1], String, async (chaos) => {
      const { project } = chaos;
      const tasks = ['A', 'B'];
      await project.config('workers: { lease: 10s }\n');
      // The first time it ends with its worker only.
      const run = `echo "A $$" >> '${chaos.outside}/ran'; test $(grep -c '^A ' '${chaos.outside}/ran') = 2 || sleep 3600; echo made by A > A.txt`;
      await project.graph('login', [tracedTask(chaos, 'A', { run }), tracedTask(chaos, 'B', { seconds: 0.1 })]);
      const live = project.start('kurukshetra');
      await sees(live, () => eventsSoFar(project).some(({ type }) => type === 'task-merged') && chaos.started('A'));
      killIfThere(live.pid, 'SIGSTOP');
      await untilNothingIsLeft(chaos);
      killIfThere(live.pid, 'SIGCONT');
      await expectBuilt(chaos, await live.end, tasks);
      expect(await chaos.timesRan('B')).toBe(1);
      expect(await chaos.timesRan('A')).toBe(2);
      const { failures, losses } = (await project.state()).tasks['A'] ?? {};
      expect([failures, losses], 'no failure is charged to the task').toEqual([0, 0]);
    });
  });
});
