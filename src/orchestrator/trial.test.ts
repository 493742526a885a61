import { describe, expect, it } from 'vitest';
import { commit, createWorld } from '../../test/support/decision-world.ts';
import type { World, WorldTask } from '../../test/support/decision-world.ts';
import { reduce } from './reduce.ts';
import { trialChain } from './trial.ts';

const GATE = { name: 'test', command: 'npm test', required: true, timeoutMs: 1000 };

/** Lets the worker that has a task end it well. */
function finish(world: World, task: string): void {
  const worker = Object.entries(world.state.workers).find(([, { task: doing }]) => doing === task)?.[0];
  if (worker === undefined) throw new Error(`no worker is at ${task}`);
  world.reports(Number(worker), {});
  world.settle();
}

/** A of level 1 has failed; C of level 2 is merged into its trial, and D of level 2 is at work. */
function withUnpublishedSecondLevel(gates: boolean): World {
  const tasks: WorldTask[] = [{ id: 'A' }, { id: 'B' }, { id: 'C', level: 2 }, { id: 'D', level: 2 }];
  const world = createWorld(tasks, { workers: 2, gates: gates ? [GATE] : [] });
  world.settle();
  for (let attempt = 0; attempt < 2; attempt++) {
    const worker = Object.entries(world.state.workers).find(([, { task }]) => task === 'A')?.[0];
    world.reports(Number(worker), { outcome: 'agent-failed', detail: 'no', feedback: 'no' });
    world.settle();
  }
  finish(world, 'B');
  if (gates) passGates(world, 1);
  finish(world, 'C');
  expect(world.state.levels['2']?.trial?.tasks).toEqual(['C']);
  return world;
}

function passGates(world: World, level: number): void {
  world.gatesAre('green', world.state.levels[level]?.gateRun?.worker ?? -1);
  world.settle();
}

describe('the merges of a level that are not published', () => {
  it('are given up when an earlier level is opened again, and made anew on what that level publishes', () => {
    const world = withUnpublishedSecondLevel(false);
    world.retry('A');
    world.settle();
    expect(world.state.levels['2']?.trial).toBeNull();
    finish(world, 'A');
    expect(world.state.integrationTip).toBe(commit('+A'));
    expect(trialChain(world.state, 2)).toMatchObject({ from: commit('+A'), tip: commit('+C') });
  });

  it('are given up also while their gates run; what these say then counts for nothing', () => {
    const world = withUnpublishedSecondLevel(true);
    finish(world, 'D');
    const { worker, attempt } = world.state.levels['2']?.gateRun ?? { worker: -1, attempt: '' };
    world.retry('A');
    world.settle();
    expect(world.state.levels['2']).toMatchObject({ trial: null, gateRun: { attempt } });
    world.gatesAre('green', worker);
    world.settle();
    expect(world.state.levels['2']).toMatchObject({ trial: null, gateRun: null });
  });

  it('stay when a task of their own level is tried again', () => {
    const world = createWorld([{ id: 'A' }, { id: 'B' }, { id: 'C' }], { workers: 3 });
    world.settle();
    finish(world, 'B');
    for (let attempt = 0; attempt < 2; attempt++) {
      const worker = Object.entries(world.state.workers).find(([, { task }]) => task === 'A')?.[0];
      world.reports(Number(worker), { outcome: 'agent-failed', detail: 'no', feedback: 'no' });
      world.settle();
    }
    world.retry('A');
    world.settle();
    expect(world.state.levels['1']?.trial?.tasks).toEqual(['B']);
  });
});

describe('results of gates', () => {
  it('on a part of the trial do not count for the whole when the search for the culprit is broken off', () => {
    const world = createWorld([{ id: 'A' }, { id: 'B' }, { id: 'C' }, { id: 'D' }], { gates: [GATE], workers: 1 });
    world.settle();
    for (const task of ['A', 'B', 'C', 'D']) finish(world, task);
    for (const color of ['red', 'red', 'green'] as const) {
      world.gatesAre(color, 0);
      world.settle();
    }
    const { attempt, count } = world.state.levels['1']?.gateRun ?? { attempt: '', count: -1 };
    expect(count).toBe(2);
    world.resume();
    expect(world.settle()).toContain('run-gates of level 1 with 4 tasks');
    const late = reduce(world.state, { at: '', type: 'gates-passed', level: 1, attempt, count, gates: [] });
    expect(late.levels['1']?.trial?.green).toBe(false);
  });

  it('from before a resume do not count after it: the gates may be others', () => {
    const world = createWorld([{ id: 'A' }], { gates: [GATE], workers: 1 });
    world.settle();
    finish(world, 'A');
    world.resume({ gates: [{ ...GATE, name: 'other' }] });
    expect(world.settle()).toContain('run-gates of level 1 with 1 tasks');
    expect(world.state.integrationTip).toBe(commit('base'));
  });

  it.each([
    ['no gate', []],
    ['another gate', [{ name: 'other', ok: true }]],
    [
      'one gate too many',
      [
        { name: 'test', ok: true },
        { name: 'other', ok: true },
      ],
    ],
    ['a gate that it calls not required', [{ name: 'test', ok: false, required: false }]],
  ])('are not taken for green when they have %s', (_, reports) => {
    const world = createWorld([{ id: 'A' }], { gates: [GATE], workers: 1 });
    world.settle();
    finish(world, 'A');
    const attempt = world.state.levels['1']?.gateRun?.attempt ?? '';
    const gates = reports.map((report) => ({ required: true, detail: '', output: '', durationMs: 1, ...report }));
    world.says(0, { result: { kind: 'gate', attempt, gates, error: null } });
    expect(world.turn()).toMatch(/record gates-(lost|failed) 1/);
    expect(world.state.levels['1']?.trial?.green).toBe(false);
  });
});
