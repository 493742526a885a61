import { describe, expect, it } from 'vitest';
import { createWorld } from '../../test/support/decision-world.ts';
import type { World } from '../../test/support/decision-world.ts';

const GATE = { name: 'test', command: 'x', required: true, timeoutMs: 1 };
const FAILURE = 'the set-up "npm ci" failed: exit status 1\nthe lock file is not in sync';

/** The gates of what these tasks have done are under way. */
function gating(...ids: string[]): World {
  const tasks = ids.map((id) => ({ id }));
  const world = createWorld(tasks, { workers: 1, gates: [GATE] }, { attempts: 1 });
  for (let task = 0; task < ids.length; task += 1) {
    world.settle();
    world.reports(0, {});
  }
  world.settle();
  expect(countAt(world)).toBe(ids.length);
  return world;
}

const countAt = (world: World, level = 1): number | undefined => world.state.levels[level]?.gateRun?.count;

const setupFails = (world: World): void => world.says(0, { alive: false, exit: 'gone', setupFailure: FAILURE });

/** Gate runs end so, until there is none any more; returns all that was decided. */
function gatesEnd(world: World, end: (count: number) => void): string {
  const said: string[] = [];
  for (let run = 0; run < 20 && countAt(world) !== undefined; run += 1) {
    end(countAt(world) ?? 0);
    said.push(world.settle());
  }
  return said.join('\n');
}

/** A of level 1 is published, and the gates of level 2 are under way. */
function gatingSecond(addedGate: boolean): World {
  const tasks = [{ id: 'A' }, { id: 'B', level: 2 }, { id: 'C', level: 2 }];
  const world = createWorld(tasks, { workers: 1, gates: addedGate ? [] : [GATE] }, { attempts: 1 });
  world.settle();
  world.reports(0, {});
  world.settle();
  if (addedGate) world.resume({ gates: [GATE] });
  else world.gatesAre('green', 0);
  for (let task = 0; task < 2; task += 1) {
    world.settle();
    world.reports(0, {});
  }
  world.settle();
  expect(world.state.tasks['A']?.merged).toBe(true);
  return world;
}

/** Lets the gates of level 2 be red from so many tasks on; returns with how many they ran. */
function looksUntilRedFrom(first: number, world: World): number[] {
  const looked: number[] = [];
  for (let count = countAt(world, 2); count !== undefined; count = countAt(world, 2)) {
    looked.push(count);
    world.gatesAre(count >= first ? 'red' : 'green', 0, 'no compiler');
    world.settle();
  }
  return looked;
}

describe('gates of a later level', () => {
  it.each([
    ['have been green on it before', false],
    ['were added by a resume', true],
  ])('that are red on what is published as well end the run, and no task is to blame, when they %s', (_, added) => {
    const world = gatingSecond(added);
    expect(looksUntilRedFrom(0, world)).toEqual([2, 2, 0]);
    expect(world.state.status).toBe('failed');
    expect(world.state.cause).toMatch(
      /^the gates are red already on what is published, without .* level 2: .*no compiler/s,
    );
    for (const id of ['B', 'C']) expect(world.state.tasks[id]).toMatchObject({ status: 'complete', failures: 0 });
  });

  it('find their culprit when they are green on what is published', () => {
    const world = gatingSecond(false);
    world.gatesAre('red', 0);
    world.settle();
    expect(looksUntilRedFrom(2, world)).toEqual([2, 0, 1, 1]);
    expect(world.state.tasks['C']?.cause).toContain('green with 1 of 2 tasks, red with this one on top');
    expect(world.state.tasks['B']).toMatchObject({ merged: true, failures: 0 });
  });
});

describe('a set-up that fails with the merged work of tasks', () => {
  it('is red: the task with which it begins to fail is found and told why, and the others are published', () => {
    const world = gating('A', 'B', 'C', 'D');
    const said = gatesEnd(world, (count) => {
      const isIn = world.state.levels['1']?.trial?.tasks.slice(0, count).includes('C');
      return isIn ? setupFails(world) : world.gatesAre('green', 0);
    });
    expect(said).toContain('record worker-exited 0 true the set-up "npm ci" failed: exit status 1\n');
    expect(world.state).toMatchObject({ status: 'failed', cause: '3 of 4 tasks are done, 1 failed, 0 blocked' });
    const { C } = world.state.tasks;
    expect(C?.attempts.at(-1)).toMatchObject({ outcome: 'gate-failed' });
    expect(C?.cause).toContain('green with 2 of 4 tasks, red with this one on top: the set-up "npm ci" failed');
    expect(C?.feedback).toContain(`on the merged tree:\n${FAILURE}`);
    expect(['A', 'B', 'D'].map((id) => world.state.tasks[id]?.merged)).toEqual([true, true, true]);
    expect(world.state).toMatchObject({ startFailures: 0 });
  });

  it('and not in a second look costs no task a try', () => {
    const world = gating('A');
    setupFails(world);
    expect(world.settle()).toContain('red once: a second look tells a flake from a failure');
    world.gatesAre('green', 0);
    world.settle();
    expect(world.state.status).toBe('complete');
  });

  it('counts when the worker that reports it is gone', () => {
    const world = gating('A');
    world.says(0, { setupFailure: FAILURE });
    expect(world.settle()).toBe('');
    setupFails(world);
    expect(world.settle()).toContain('record gates-failed 1 @gates-of-level-1.1');
  });

  it('is no answer of a worker that does not end', () => {
    const world = gating('A');
    world.says(0, { setupFailure: FAILURE, silentMs: 6000 });
    expect(world.settle()).toMatch(/kill-worker 0: no heartbeat for 6 s, limit 5 s\nrecord gates-lost 1/);
  });

  it('and without it as well ends the run: no task is to blame', () => {
    const world = gating('A', 'B');
    expect(gatesEnd(world, () => setupFails(world))).toContain(`finish failed 1: worker 0: ${FAILURE}`);
    expect(world.state.tasks['A']).toMatchObject({ status: 'complete', failures: 0 });
  });

  it('is not weighed when something else stops the run, which may be why it fails', () => {
    const world = gating('A');
    world.stop(4, 'no space left on the disk');
    setupFails(world);
    const said = world.settle();
    expect(said).toContain('record gates-lost 1');
    expect(said).not.toContain('gates-failed');
    expect(world.state).toMatchObject({ status: 'stopped', cause: 'no space left on the disk' });
  });
});
