import { describe, expect, it } from 'vitest';
import { commit, createWorld } from '../../test/support/decision-world.ts';
import type { World } from '../../test/support/decision-world.ts';

const GATE = { name: 'test', command: 'npm test', required: true, timeoutMs: 1000 };

/** Worker 0 takes all tasks of the level one by one, each verified. */
function doAll(world: World, count: number): void {
  for (let done = 0; done < count; done++) {
    world.settle();
    world.reports(0, {});
  }
}

describe('the assignment of tasks', () => {
  it('starts as many workers as there are ready tasks, up to the limit, the longest task first', () => {
    const world = createWorld([
      { id: 'A', minutes: 1 },
      { id: 'B', minutes: 9 },
      { id: 'C', minutes: 5 },
    ]);
    expect(world.settle()).toBe(
      [
        'record level-started 1 6261736500000000000000000000000000000000 3',
        'start-worker 0: more ready work than free workers',
        'assign B.1 to 0 on 6261736: ready',
        'start-worker 1: more ready work than free workers',
        'assign C.1 to 1 on 6261736: ready',
        'record worker-phase 0 busy',
        'record worker-phase 1 busy',
      ].join('\n'),
    );
  });

  it('gives the next task to a free worker before anything is merged', () => {
    const world = createWorld([{ id: 'A' }, { id: 'B' }, { id: 'C' }]);
    world.settle();
    world.reports(1, {});
    expect(world.settle()).toBe(
      [
        'record attempt-accepted B 1 1 422e310000000000000000000000000000000000 verified ',
        'record worker-phase 1 idle',
        'assign C.1 to 1 on 6261736: ready',
        'record worker-phase 1 busy',
        'merge-tasks B into level 1: accepted',
      ]
        .join('\n')
        .replace('verified ', 'verified'),
    );
  });

  it('assigns tasks while merges are under way; when these are over, the others are merged and the level is closed', () => {
    const world = createWorld([{ id: 'A' }, { id: 'B' }, { id: 'C' }], { workers: 1 });
    world.settle();
    world.merges('under way');
    for (const next of ['B', 'C']) {
      world.reports(0, {});
      expect(world.settle()).toContain(`assign ${next}.1 to 0`);
    }
    world.reports(0, {});
    expect(world.settle()).not.toMatch(/merge-tasks|publish/);
    world.merges('over');
    expect(world.settle()).toMatch(/^merge-tasks A B C into level 1: accepted\npublish level 1/);
  });

  it('merges several tasks at once, and not all, so that they are recorded soon', () => {
    const ids = Array.from({ length: 20 }, (_, index) => `T${index}`);
    const world = createWorld(
      ids.map((id) => ({ id })),
      { workers: 20 },
    );
    world.settle();
    for (let worker = 0; worker < 20; worker++) world.reports(worker, {});
    const merges = world.settle().match(/merge-tasks.*/g) ?? [];
    expect(merges.map((line) => line.match(/T\d+/g)?.length)).toEqual([16, 4]);
  });

  it('starts the next level from the merged tip, on the same workers', () => {
    const world = createWorld([{ id: 'A' }, { id: 'B', needs: ['A'] }]);
    world.settle();
    world.reports(0, {});
    const text = world.settle();
    expect(text).toContain('publish level 1 at 2b41000: no gates are configured');
    expect(text).toContain('record level-finished 1 complete all tasks are merged');
    expect(text).toContain('assign B.1 to 0 on 2b41000: ready');
    expect(text).not.toContain('start-worker');
  });

  it('is done when every task is merged, and says how many', () => {
    const world = createWorld([{ id: 'A' }]);
    doAll(world, 1);
    expect(world.settle()).toContain('finish complete 0: 1 of 1 tasks are merged into mahabharatha/f/integration');
  });

  it('skips numbers of levels that are missing', () => {
    const world = createWorld([
      { id: 'A', level: 1 },
      { id: 'B', level: 3 },
    ]);
    doAll(world, 2);
    world.settle();
    expect(world.state.status).toBe('complete');
  });
});

describe('attempts that fail', () => {
  it('are tried again with their feedback, and given up after the limit, with what needs them', () => {
    const world = createWorld([{ id: 'A' }, { id: 'B' }, { id: 'C', needs: ['A'] }, { id: 'D', needs: ['B'] }], {
      workers: 1,
    });
    world.settle();
    world.reports(0, { outcome: 'verification-failed', detail: 'exit status 1', feedback: 'expected 3, got 4' });
    expect(world.settle()).toContain('assign A.2 to 0 on 6261736: again, because: exit status 1');
    expect(world.state.tasks['A']?.feedback).toBe('expected 3, got 4');
    world.reports(0, { outcome: 'verification-failed', detail: 'exit status 1', feedback: 'still 4' });
    expect(world.settle()).toContain('record task-failed A failed 2 of 2 times; last: exit status 1');
    doAll(world, 2);
    expect(world.settle()).toContain('finish failed 1: 2 of 4 tasks are done, 1 failed, 1 blocked');
    expect(world.state.tasks['C']).toMatchObject({ status: 'blocked', cause: 'needs A, which is failed' });
    expect(world.state.tasks['D']).toMatchObject({ status: 'complete', merged: true });
  });

  it('are as many as the task says, where it does', () => {
    const world = createWorld(
      [
        { id: 'A', attempts: 1 },
        { id: 'B', attempts: 3 },
      ],
      {},
      { attempts: 2 },
    );
    world.settle();
    world.reports(0, { outcome: 'agent-failed', detail: 'exit status 1' });
    expect(world.settle()).toContain('record task-failed A failed 1 of 1 times; last: exit status 1');
    for (const attempt of [1, 2, 3]) {
      expect(world.state.tasks['B']).toMatchObject({ status: 'running', failures: attempt - 1 });
      const { worker = 0 } = world.state.tasks['B']?.attempts.at(-1) ?? {};
      world.reports(worker, { outcome: 'agent-failed', detail: 'exit status 1' });
      world.settle();
    }
    expect(world.state.tasks['B']).toMatchObject({
      status: 'failed',
      cause: 'failed 3 of 3 times; last: exit status 1',
    });
  });

  it('fail for files that the task does not own, and say which', () => {
    const world = createWorld([{ id: 'A' }]);
    world.settle();
    world.reports(0, { changed: ['A.txt', 'secret.txt'] });
    world.settle();
    expect(world.state.tasks['A']?.attempts[0]).toMatchObject({
      outcome: 'not-owned',
      detail: 'changed 1 file that it does not own: secret.txt',
    });
  });

  it('fail when they have made a git repository in a folder: its files would not be on the branch', () => {
    const world = createWorld([{ id: 'A' }, { id: 'B' }]);
    world.settle();
    world.reports(0, { changed: ['A.txt', 'sub'], embedded: ['sub'] });
    world.reports(1, { changed: ['.gitmodules', 'B.txt', 'library'], embedded: ['library'] });
    world.settle();
    expect(world.state.tasks['A']?.attempts[0]).toMatchObject({
      outcome: 'no-change',
      detail: 'made a git repository of its own in sub: the files in there would be lost',
    });
    expect(world.state.tasks['B']?.attempts[0]?.outcome, 'a submodule that is named as one').not.toBe('no-change');
  });

  it.each([
    ['warn', ['A changed 1 file that it does not own: secret.txt']],
    ['off', []],
  ] as const)('are accepted with foreign files when ownership is %s', (ownership, warnings) => {
    const world = createWorld([{ id: 'A' }], { ownership });
    world.settle();
    world.reports(0, { changed: ['A.txt', 'secret.txt'] });
    world.settle();
    expect(world.state).toMatchObject({ status: 'complete', warnings });
  });

  it.each(['enforce', 'warn', 'off'] as const)(
    'fail when they change files that later runs obey, also when ownership is %s',
    (ownership) => {
      const world = createWorld([{ id: 'A', creates: ['**'] }], { ownership });
      world.settle();
      world.reports(0, { changed: ['A.txt', '.Mahabharatha/config.yaml', '.mahabharatha'] });
      world.settle();
      expect(world.state.tasks['A']?.attempts[0]).toMatchObject({
        outcome: 'not-owned',
        detail: 'changed 2 files that it does not own: .Mahabharatha/config.yaml, .mahabharatha',
      });
    },
  );

  it('fail when the reported commit is not what it claims to be', () => {
    const world = createWorld([{ id: 'A' }]);
    world.settle();
    world.reports(0, { fault: 'is not one commit on top of aaaa' });
    world.settle();
    expect(world.state.tasks['A']?.attempts[0]).toMatchObject({ outcome: 'worker-error', commit: null });
  });

  it('are done again when the repository has lost their commit, at the price of a loss', () => {
    const world = createWorld([{ id: 'A' }], { workers: 1 });
    world.settle();
    world.reports(0, { isGone: true, commit: commit('work') });
    expect(world.settle()).toContain('record attempt-failed A 1 0 lost the repository has not all of its commit');
    expect(world.state.tasks['A']).toMatchObject({ status: 'running', failures: 0, losses: 1, feedback: null });
  });

  it('wait longer after each rate limit, without using up a try', () => {
    const world = createWorld([{ id: 'A' }], { workers: 1 });
    world.settle();
    for (const seconds of [1, 2, 4]) {
      world.reports(0, { outcome: 'rate-limited', detail: '429', commit: null });
      world.settle();
      expect(world.state.tasks['A']).toMatchObject({
        status: 'pending',
        failures: 0,
        cause: `429; waiting ${seconds} s`,
      });
      world.wait(seconds * 1000 - 1);
      expect(world.settle()).toBe('');
      world.wait(1);
      expect(world.settle()).toContain('assign A.');
    }
  });

  it('pause the run at the usage limit of the account, uncharged, with the time of its end', () => {
    const world = createWorld([{ id: 'A' }]);
    world.settle();
    world.reports(0, {
      outcome: 'usage-limit',
      detail: 'limit reached',
      commit: null,
      resetAt: '2026-01-01T05:00:00Z',
    });
    expect(world.settle()).toContain(
      'finish paused 3: usage limit of the account: limit reached. It ends at 2026-01-01T05:00:00.000Z.',
    );
    expect(world.state).toMatchObject({ status: 'paused', resumeAt: '2026-01-01T05:00:00.000Z' });
    expect(world.state.tasks['A']).toMatchObject({ status: 'pending', failures: 0 });
  });

  it('stop the run when credentials are refused: every further attempt would fail the same way', () => {
    const world = createWorld([{ id: 'A' }]);
    world.settle();
    world.reports(0, { outcome: 'credentials', detail: 'invalid key', commit: null });
    expect(world.settle()).toContain("finish stopped 4: the agent's credentials were refused: invalid key");
  });
});

/** What is decided when the worker of a run in this mode says that it could not work. */
function turnIn(mode: string): string {
  const world = createWorld([{ id: 'A' }], { mode });
  world.settle();
  world.reports(0, { outcome: 'worker-error', detail: 'fatal: not a git repository' });
  return world.turn();
}

describe('workers that fail', () => {
  it('that die are replaced and their task is tried again at no charge', () => {
    const world = createWorld([{ id: 'A' }], { workers: 1 });
    world.settle();
    world.dies(0);
    const text = world.settle();
    expect(text).toContain('record worker-exited 0 false killed by SIGKILL');
    expect(text).toContain('start-worker 0: more ready work than free workers; its last life: killed by SIGKILL');
    expect(text).toContain('assign A.2 to 0');
    expect(world.state.tasks['A']).toMatchObject({ failures: 0, losses: 1 });
  });

  it('end the tries of a task when it has cost too many of them', () => {
    const world = createWorld([{ id: 'A' }], { workers: 1 });
    for (let death = 0; death < 3; death++) {
      world.settle();
      world.says(0, { phase: 'running' });
      world.settle();
      world.dies(0);
    }
    expect(world.settle()).toContain(
      'record task-failed A its worker died 3 times; last: worker 0 died at work: killed by SIGKILL',
    );
  });

  it('keep a result that they reported before they died', () => {
    const world = createWorld([{ id: 'A' }]);
    world.settle();
    world.reports(0, {});
    world.says(0, { alive: false, exit: 'killed by SIGKILL' });
    world.settle();
    expect(world.state).toMatchObject({ status: 'complete' });
    expect(world.state.tasks['A']?.attempts).toHaveLength(1);
  });

  it('that are silent are killed, with the figures', () => {
    const world = createWorld([{ id: 'A' }]);
    world.settle();
    world.says(0, { silentMs: 9500 });
    expect(world.turn()).toBe('kill-worker 0: no heartbeat for 9.5 s, limit 5 s');
    world.turn();
    const detail = 'worker 0 died at work: no heartbeat for 9.5 s, limit 5 s';
    expect(world.state.tasks['A']).toMatchObject({ losses: 1, failures: 0, attempts: [{ outcome: 'lost', detail }] });
  });

  it('that exceed a limit of their own fail their task, and the feedback says why', () => {
    const world = createWorld([{ id: 'A' }]);
    world.settle();
    world.says(0, { alive: false, overLimit: true, exit: 'killed: its folders hold 3.0 GiB, the limit is 2.0 GiB' });
    world.turn();
    expect(world.state.tasks['A']).toMatchObject({
      failures: 1,
      losses: 0,
      feedback: 'The last attempt was ended: killed: its folders hold 3.0 GiB, the limit is 2.0 GiB',
    });
  });

  it('that cannot work any more after a task are replaced when they are containers', () => {
    const failed = 'record attempt-failed A 1 0 worker-error fatal: not a git repository';
    const killed = 'kill-worker 0: it could not work any more, or was not to be believed: fatal: not a git repository';
    expect(turnIn('container').split('\n')).toEqual([expect.stringContaining(failed), killed]);
    expect(turnIn('subprocess').split('\n')).toEqual([expect.stringContaining(failed)]);
  });

  it('that cannot even start end the run after three of them', () => {
    const world = createWorld([{ id: 'A' }], { workers: 1 });
    world.turn();
    for (let start = 0; start < 3; start++) {
      world.turn();
      world.says(0, { phase: null, alive: false, exit: 'ended with exit status 1', lastLines: ['cannot find module'] });
      world.turn();
      world.turn();
    }
    world.turn();
    expect(world.state).toMatchObject({ status: 'failed' });
    expect(world.state.cause).toBe(
      'workers end before they are ready, 3 times in a row; last: ended with exit status 1; last output: cannot find module',
    );
  });

  it('that cannot start because the engine is gone are not the cause of the end', () => {
    const world = createWorld([{ id: 'A' }], { workers: 1 });
    world.turn();
    for (let start = 0; start < 3; start++) {
      world.turn();
      world.says(0, { phase: null, alive: false, exit: 'it could not be started: no engine' });
      if (start === 2) world.stop(4, 'no engine');
      world.turn();
      world.turn();
    }
    world.turn();
    expect(world.state).toMatchObject({ status: 'stopped', cause: 'no engine' });
  });

  it('with a set-up that fails end the run with its output', () => {
    const world = createWorld([{ id: 'A' }]);
    world.settle();
    world.says(0, {
      alive: false,
      exit: 'ended with exit status 0',
      setupFailure: 'the set-up "npm install" failed: exit status 1',
    });
    expect(world.settle()).toBe(
      [
        'record attempt-failed A 1 0 interrupted the set-up of worker 0 failed nothing',
        'finish failed 1: worker 0: the set-up "npm install" failed: exit status 1',
      ].join('\n'),
    );
  });
});

describe('attempts that end without a result of their own', () => {
  it('count as lost workers when nothing has asked the worker to stop, so that they cannot repeat without end', () => {
    const world = createWorld([{ id: 'A' }], { workers: 1 });
    for (let stop = 0; stop < 3; stop++) {
      world.settle();
      world.reports(0, { outcome: 'interrupted', detail: 'stopped before it was done', commit: null });
    }
    expect(world.settle()).toContain('record task-failed A its worker died 3 times; last: stopped before it was done');
  });

  it('cost nothing when the run was asked to stop', () => {
    const world = createWorld([{ id: 'A' }], { workers: 1 });
    world.settle();
    world.stop(143, 'asked to stop (SIGTERM)');
    world.reports(0, { outcome: 'interrupted', detail: 'stopped before it was done', commit: null });
    world.settle();
    expect(world.state.tasks['A']).toMatchObject({ status: 'pending', failures: 0, losses: 0 });
  });
});

describe('gates', () => {
  const four = [{ id: 'A' }, { id: 'B' }, { id: 'C' }, { id: 'D' }];

  it('run when all tasks of the level are merged; green ones publish it', () => {
    const world = createWorld([{ id: 'A' }], { gates: [GATE] });
    doAll(world, 1);
    expect(world.settle()).toContain(
      'run-gates of level 1 with 1 tasks on 0 at 2b41000: all tasks of the level are merged',
    );
    expect(world.state.integrationTip).toBe(commit('base'));
    world.gatesAre('green', 0);
    expect(world.settle()).toContain('publish level 1 at 2b41000: all required gates are green');
  });

  it('run also on what is left of a level in which a task has failed, and say how much that is', () => {
    const world = createWorld([{ id: 'A' }, { id: 'B' }, { id: 'C' }], { gates: [GATE], workers: 1 });
    for (const task of ['A', 'A']) {
      world.settle();
      world.reports(0, { outcome: 'agent-failed', detail: `no ${task}`, feedback: 'no' });
    }
    doAll(world, 2);
    expect(world.settle()).toMatch(
      /run-gates of level 1 with 2 tasks on 0 at \w+: what is done in the level is merged: 2 of 3 tasks/,
    );
  });

  it('that are red once are looked at again: a flake costs no task a try', () => {
    const world = createWorld([{ id: 'A' }], { gates: [GATE] });
    doAll(world, 1);
    world.settle();
    world.gatesAre('red', 0);
    expect(world.settle()).toContain('red once: a second look tells a flake from a failure');
    world.gatesAre('green', 0);
    world.settle();
    expect(world.state).toMatchObject({ status: 'complete' });
    expect(world.state.tasks['A']?.failures).toBe(0);
  });

  it('that stay red lead to the culprit; it comes back with the log on top of the others', () => {
    const world = createWorld(four, { gates: [GATE], workers: 1 });
    doAll(world, 4);
    world.settle();
    const looked: number[] = [];
    while (world.state.tasks['C']?.status === 'complete') {
      const count = world.state.levels['1']?.gateRun?.count ?? -1;
      looked.push(count);
      world.gatesAre(count >= 3 ? 'red' : 'green', 0, 'C broke it');
      world.settle();
    }
    expect(looked).toEqual([4, 4, 0, 2, 3]);
    const culprit = world.state.tasks['C'];
    expect(culprit).toMatchObject({
      status: 'pending',
      failures: 1,
      feedback: expect.stringContaining('C broke it') as string,
    });
    expect(world.state.levels['1']?.gateRun?.count).toBe(3);
    world.gatesAre('green', 0);
    expect(world.settle()).toContain('assign C.2 to 0 on 2b44000: again');
    expect(['A', 'B', 'D'].map((id) => world.state.tasks[id]?.merged)).toEqual([true, true, true]);
  });

  it('that are red without any work end the run: no task is to blame', () => {
    const world = createWorld([{ id: 'A' }], { gates: [GATE] });
    doAll(world, 1);
    world.settle();
    for (let look = 0; look < 3; look++) {
      world.gatesAre('red', 0);
      world.settle();
    }
    expect(world.state.status).toBe('failed');
    expect(world.state.cause).toContain("the gates are red already without any task's work");
  });

  it('that kill their worker each time end the run', () => {
    const world = createWorld([{ id: 'A' }], { gates: [GATE], workers: 1 });
    doAll(world, 1);
    for (let death = 0; death < 3; death++) {
      world.settle();
      world.dies(0);
    }
    expect(world.settle()).toContain(
      'finish failed 1: the gates of level 1 have come to no end so often that they are given up: the last worker died',
    );
  });

  it('that could not be run for a failure of git are neither red nor green, and go to another worker', () => {
    const world = createWorld([{ id: 'A' }], { gates: [GATE], workers: 1 });
    doAll(world, 1);
    world.settle();
    world.gatesCannotRun(0, 'git clean failed');
    const text = world.settle();
    expect(text).toContain('record gates-lost 1 @gates-of-level-1.1 worker 0 could not run them: git clean failed');
    expect(text).toContain('kill-worker 0');
    expect(text).toContain('run-gates of level 1');
    expect(text).not.toContain('gates-failed');
    for (let loss = 0; loss < 2; loss++) {
      world.gatesCannotRun(0, 'git clean failed');
      world.settle();
    }
    expect(world.state.status).toBe('failed');
    expect(world.state.cause).toContain('worker 0 could not run them: git clean failed');
  });

  it('are never taken for a task, whatever its id', () => {
    const world = createWorld([{ id: 'gates-of-level-1' }], { gates: [GATE], workers: 1 });
    doAll(world, 1);
    world.settle();
    expect(world.state.levels['1']?.gateRun?.attempt).toBe('@gates-of-level-1.1');
  });

  it('go to another worker when theirs dies', () => {
    const world = createWorld([{ id: 'A' }], { gates: [GATE], workers: 1 });
    doAll(world, 1);
    world.settle();
    world.dies(0);
    const text = world.settle();
    expect(text).toContain('record gates-lost 1 @gates-of-level-1.1 worker 0 died: killed by SIGKILL');
    expect(text).toContain('run-gates of level 1');
  });
});

describe('a request', () => {
  it('to stop ends the run with the exit status of the request', () => {
    const world = createWorld([{ id: 'A' }]);
    world.settle();
    world.stop(130, 'interrupted (SIGINT)');
    expect(world.settle()).toBe('finish stopped 130: interrupted (SIGINT)');
  });

  it('to retry gives a failed task new tries and frees what it blocked', () => {
    const world = createWorld([{ id: 'A' }, { id: 'B' }, { id: 'C', needs: ['A'] }], { workers: 1 });
    for (let attempt = 0; attempt < 2; attempt++) {
      world.settle();
      world.reports(0, { outcome: 'agent-failed', detail: 'no', feedback: 'no' });
    }
    world.settle();
    expect(world.state.tasks['C']?.status).toBe('blocked');
    world.retry('A');
    world.turn();
    expect(world.state.tasks['A']).toMatchObject({ status: 'pending', failures: 0 });
    expect(world.state.tasks['C']?.status).toBe('pending');
  });

  it('decides nothing once the run is over', () => {
    const world = createWorld([{ id: 'A' }]);
    doAll(world, 1);
    world.settle();
    expect(world.settle()).toBe('');
  });
});
