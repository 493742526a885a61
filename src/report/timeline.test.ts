import { describe, expect, it } from 'vitest';
import { NO_USAGE } from '../protocol/index.ts';
import type { RecordedEvent, RunEvent } from '../state/index.ts';
import { axisOf } from './axis.ts';
import { timelineOf } from './timeline.ts';

const SETTINGS = {
  workers: 2,
  mode: 'subprocess',
  modeByAuto: false,
  agent: 'claude',
  ownership: 'enforce',
  gates: [],
} as const;
const BASE = 'a'.repeat(40);

/** Each event happens at so many seconds. */
const at = (seconds: number, event: RunEvent): RecordedEvent => ({
  ...event,
  at: new Date(seconds * 1000).toISOString(),
});
const started = (seconds: number): RecordedEvent =>
  at(seconds, {
    type: 'run-started',
    feature: 'login',
    runId: 'r',
    base: BASE,
    integration: 'i',
    tasks: 2,
    levels: 1,
    settings: { ...SETTINGS, gates: [], caps: { run: null, task: null } },
  });
const resumed = (seconds: number): RecordedEvent =>
  at(seconds, {
    type: 'run-resumed',
    runId: 'r',
    pending: 1,
    settings: { ...SETTINGS, gates: [], caps: { run: null, task: null } },
  });
const finished = (seconds: number): RecordedEvent =>
  at(seconds, { type: 'run-finished', status: 'stopped', exit: 130, cause: 'c', resumeAt: null, cost: NO_USAGE });
const attempt = (seconds: number, task: string, worker: number, number = 1): RecordedEvent =>
  at(seconds, { type: 'attempt-started', task, attempt: number, worker, base: BASE, cause: 'ready' });
const verifying = (seconds: number, task: string, work?: string): RecordedEvent =>
  at(seconds, {
    type: 'attempt-verifying',
    task,
    attempt: 1,
    ...(work === undefined ? {} : { work: { commit: BASE, detail: work, usage: null } }),
  });
const accepted = (seconds: number, task: string, worker: number): RecordedEvent =>
  at(seconds, { type: 'attempt-accepted', task, attempt: 1, worker, commit: BASE, detail: '1 file', usage: null });
const failed = (seconds: number, task: string, worker: number): RecordedEvent =>
  at(seconds, {
    type: 'attempt-failed',
    task,
    attempt: 1,
    worker,
    outcome: 'timed-out',
    detail: 'too long',
    feedback: null,
    commit: null,
    usage: null,
    charge: 'failure',
    notBefore: null,
  });

/** "worker 0: work A 1-3 good, …" in seconds. */
function drawn(events: readonly RecordedEvent[], until: number): string[] {
  return timelineOf(events, until * 1000).lanes.map(({ name, spans }) => {
    const parts = spans.map(({ kind, of, from, to, end }) => `${kind} ${of} ${from / 1000}-${to / 1000} ${end}`);
    return `${name}: ${parts.join(', ')}`;
  });
}

describe('the time line of a run', () => {
  it('has a row for each worker, with work, verification in the same place, gates and set-ups', () => {
    const gates = {
      type: 'gates-started',
      level: 1,
      attempt: 'g',
      worker: 0,
      commit: BASE,
      count: 1,
      cause: 'c',
    } as const;
    const red = { name: 'test', ok: false, required: true, detail: 'exit 1' };
    const events = [
      started(0),
      at(0, { type: 'snapshot-begun', commit: BASE, command: 'npm ci' }),
      at(1, { type: 'snapshot-made', commit: BASE, ms: 1000 }),
      attempt(1, 'A', 0),
      attempt(1, 'B', 10),
      verifying(3, 'A'),
      failed(4, 'B', 10),
      accepted(5, 'A', 0),
      at(6, gates),
      at(7, { type: 'gates-failed', level: 1, attempt: 'g', count: 1, gates: [red], log: '' }),
      at(8, gates),
      at(9, { type: 'gates-passed', level: 1, attempt: 'g', count: 1, gates: [] }),
      finished(10),
    ];
    expect(drawn(events, 10)).toEqual([
      'set-up: set-up aaaaaaaaaa 0-1 good',
      'worker 0: work A 1-3 good, verification A 3-5 good, gates level 1 6-7 bad, gates level 1 8-9 good',
      'worker 10: work B 1-4 bad',
    ]);
    const details = timelineOf(events, 10_000).lanes.flatMap(({ spans }) => spans.map(({ detail }) => detail));
    expect(details).toEqual(['ready', 'done, to be verified', '1 file', 'red: test', 'green', 'timed-out: too long']);
  });

  it('shows a verification by another worker with that worker', () => {
    const verification = {
      type: 'verification-started',
      task: 'A',
      attempt: 1,
      worker: 1,
      commit: BASE,
      cause: 'c',
    } as const;
    const events = [
      started(0),
      attempt(0, 'A', 0),
      verifying(2, 'A', '2 files'),
      at(3, verification),
      accepted(5, 'A', 0),
    ];
    expect(drawn(events, 5)).toEqual(['worker 0: work A 0-2 good', 'worker 1: verification A 3-5 good']);
  });

  it('ends what was going on when the orchestrator stopped, was killed, or is still at work', () => {
    const events = [
      started(0),
      attempt(1, 'A', 0),
      finished(2),
      resumed(100),
      attempt(101, 'A', 0, 2),
      attempt(103, 'B', 1),
      // Killed here.
      resumed(200),
      attempt(201, 'B', 0, 2),
    ];
    expect(drawn(events, 205)).toEqual([
      'worker 0: work A 1-2 open, work A 101-103 open, work B 201-205 open',
      'worker 1: work B 103-103 open',
    ]);
    expect(timelineOf(events, 205_000).periods.map(({ from, to }) => [from / 1000, to / 1000])).toEqual([
      [0, 2],
      [100, 103],
      [200, 205],
    ]);
  });
});

describe('the axis', () => {
  it('gives no room to times without an orchestrator, and marks where they are', () => {
    const axis = axisOf({
      periods: [
        { from: 0, to: 60_000 },
        { from: 9_000_000, to: 9_060_000 },
      ],
    });
    expect(axis.totalMs).toBe(120_000);
    expect([0, 30_000, 60_000, 500_000, 9_000_000, 9_060_000].map((time) => axis.position(time).toFixed(4))).toEqual([
      '0.0000',
      '0.2475',
      '0.4950',
      '0.4950',
      '0.5050',
      '1.0000',
    ]);
    expect(axis.breaks.map((place) => place.toFixed(2))).toEqual(['0.50']);
    expect(axis.ticks.map(({ ms }) => ms)).toEqual(Array.from({ length: 9 }, (_, index) => index * 15_000));
  });

  it.each([
    [[], 0],
    [[{ from: 5, to: 5 }], 0],
    [[{ from: 0, to: 90 * 24 * 3_600_000 }], 1],
  ])('of %j is no division by nothing, and has few ticks', (periods, end) => {
    const axis = axisOf({ periods });
    expect(axis.position(Infinity)).toBe(end);
    expect(axis.ticks.length).toBeLessThan(10);
  });
});
