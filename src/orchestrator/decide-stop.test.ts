import { expect, it } from 'vitest';
import { goesOnAtStop, whyStop } from './decide-stop.ts';
import type { StopFacts } from './decide-stop.ts';
import type { Action } from './plan.ts';

const asked = { status: 'stopped', exit: 130, cause: 'Ctrl-C' } as const;

it.each<[string, Partial<StopFacts>, string | undefined]>([
  ['nothing', {}, undefined],
  ['time that is left', { spentMs: 59_999, limitMs: 60_000 }, undefined],
  ['the cap on its time', { spentMs: 61_000, limitMs: 60_000 }, '3 time 1 min 1 s, cap 1 min 0 s'],
  ['an outage, before the cap', { outage: 'no engine', spentMs: 9, limitMs: 1 }, '4 no engine'],
  ['a person, before all others', { asked, outage: 'no engine', spentMs: 9, limitMs: 1 }, '130 Ctrl-C'],
])('what stops a run: %s', (_what, facts, expected) => {
  const stop = whyStop({ asked: null, outage: undefined, spentMs: 0, limitMs: null, ...facts });
  expect(stop === null ? undefined : `${stop.exit} ${stop.cause}`).toBe(expected);
});

it.each<[Action['kind'], boolean]>([
  ['record', true],
  ['kill-worker', true],
  ['take-result', true],
  ['start-worker', false],
  ['assign', false],
  ['run-gates', false],
  ['merge-tasks', false],
  ['publish', false],
])(
  'after a stop in the middle of a turn nothing new begins, and what has happened is still recorded: %s',
  (kind, goesOn) => {
    expect(goesOnAtStop({ kind } as Action)).toBe(goesOn);
  },
);
