import { describe, expect, it } from 'vitest';
import { createWorld, graphOf } from '../../../test/support/decision-world.ts';
import type { WorldTask } from '../../../test/support/decision-world.ts';
import type { RunState } from '../../state/index.ts';
import type { Usage } from '../../protocol/index.ts';
import { formatSummary } from './summary.ts';

const MINUTE = 60_000;
const USAGE: Usage = { inputTokens: 1000, outputTokens: 20, cacheReadTokens: 0, cacheWriteTokens: 0, costUsd: 0.5 };

interface Run {
  readonly tasks?: readonly WorldTask[];
  readonly usages?: readonly (Usage | null)[];
  readonly agent?: string;
}

/** Each task is done in one attempt. */
function finished({ tasks = [{ id: 'A' }, { id: 'B' }], usages = [], agent = 'claude' }: Run = {}): RunState {
  const world = createWorld(tasks, { workers: tasks.length, agent });
  world.settle();
  world.wait(2 * MINUTE);
  for (const worker of tasks.keys()) world.reports(worker, { usage: usages[worker] ?? null });
  world.settle();
  return world.state;
}

function summaryOf(state: RunState, { tasks = [{ id: 'A' }, { id: 'B' }] }: Run = {}): string {
  return formatSummary({ state, network: undefined }, graphOf(tasks)).toString();
}

it('attempts are counted, those that failed among them', () => {
  const world = createWorld([{ id: 'A' }, { id: 'B' }], { workers: 2 });
  world.settle();
  world.reports(0, { outcome: 'verification-failed' });
  world.settle();
  world.reports(0, {});
  world.reports(1, {});
  world.settle();
  expect(summaryOf(world.state)).toContain('\n  tasks    2 of 2 done, in 3 attempts\n');
});

const costOf = (run: Run): string | undefined => /^ {2}cost {5}(.*)$/m.exec(summaryOf(finished(run), run))?.[1];

describe('the cost of a run', () => {
  const commands = [
    { id: 'A', run: 'true' },
    { id: 'B', run: 'true' },
  ];

  it.each([
    ['known', { usages: [USAGE, USAGE] }, '$1.00 (2000 tokens in, 40 out)'],
    ['known in part', { usages: [USAGE, null] }, '$0.50 (1000 tokens in, 20 out); the cost of 1 attempt is unknown'],
    ['unknown, as the agent says nothing of it', { agent: 'mine' }, 'unknown'],
    ['unknown, as it names no price', { usages: [{ ...USAGE, costUsd: 0 }] }, 'unknown (1000 tokens in, 20 out)'],
    ['not there, as no agent was asked', { tasks: commands }, undefined],
    ['not there, as the agent is a shell', { agent: 'shell' }, undefined],
  ])('is %s', (_, run, words) => {
    expect(costOf(run)).toBe(words);
  });
});

describe('a task that has failed', () => {
  it('is not said twice to have failed as it has', () => {
    const world = createWorld([{ id: 'A' }]);
    for (let time = 0; time < 2; time += 1) {
      world.settle();
      world.reports(0, { outcome: 'agent-failed', detail: 'exit status 1', feedback: 'exit status 1\nno idea' });
    }
    world.settle();
    expect(summaryOf(world.state)).toMatch(/exit status 1\n {11}│ no idea\n {2}time/);
    expect(summaryOf(world.state)).toMatch(
      /\n {11}mahabharatha retry A --feature f\n {11}then: .* --feature f --resume\n/,
    );
  });

  it('is shown with the last lines of what was printed', () => {
    const world = createWorld([{ id: 'A' }, { id: 'B', needs: ['A'] }]);
    const output = Array.from({ length: 20 }, (_, index) => `line ${index}`).join('\n');
    for (let time = 0; time < 2; time += 1) {
      world.settle();
      world.reports(0, {
        outcome: 'verification-failed',
        detail: 'exit status 1',
        feedback: `${output}\n\n\u001B[31mred\u001B[0m\u001B[2J\n`,
      });
    }
    world.settle();
    expect(summaryOf(world.state)).toMatch(
      /A is failed: .*\n {11}│ line 15\n {11}│ line 16\n {11}│ line 17\n {11}│ line 18\n {11}│ line 19\n {11}│ red\n {11}B is blocked: /,
    );
  });

  it('is one of three whose lines are shown, when more have failed', () => {
    const tasks = ['A', 'B', 'C', 'D', 'E'].map((id) => ({ id }));
    const world = createWorld(tasks, { workers: 5 });
    for (let time = 0; time < 2; time += 1) {
      world.settle();
      for (const worker of tasks.keys()) world.reports(worker, { outcome: 'agent-failed', feedback: 'no idea' });
    }
    world.settle();
    const text = summaryOf(world.state);
    expect(text.match(/is failed: /g)).toHaveLength(5);
    expect(text.match(/│ no idea/g)).toHaveLength(3);
  });

  it('hides none of the rest of the summary, however many others it blocks', () => {
    const others = Array.from({ length: 200 }, (_, index) => ({ id: `B${index}`, needs: ['A'] }));
    const world = createWorld([{ id: 'A' }, ...others]);
    for (let time = 0; time < 2; time += 1) {
      world.settle();
      world.reports(0, { outcome: 'agent-failed', feedback: 'no idea' });
    }
    world.settle();
    expect(summaryOf(world.state)).toMatch(/\n {11}B9 is blocked: .*\n {11}and 190 more are blocked\n {2}time/);
  });
});

function begun() {
  const world = createWorld([{ id: 'A' }, { id: 'B', needs: ['A'] }]);
  world.settle();
  return world;
}

describe('the next step', () => {
  it('begins with new tries where a resume alone would do nothing, however the run has ended', () => {
    const world = begun();
    for (let time = 0; time < 2; time += 1) {
      world.reports(0, { outcome: 'agent-failed' });
      world.settle();
    }
    for (const status of ['failed', 'stopped', 'paused'] as const)
      expect(summaryOf({ ...world.state, status })).toContain(
        'mahabharatha retry A --feature f\n           then: mahabharatha kurukshetra --feature f --resume',
      );
  });

  it('is a resume as long as a task has tries left', () => {
    for (const status of ['failed', 'stopped', 'paused'] as const)
      expect(summaryOf({ ...begun().state, status })).toContain(
        '\n  next     mahabharatha kurukshetra --feature f --resume\n',
      );
  });
});
