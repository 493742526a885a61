import { describe, expect, it } from 'vitest';
import { logLine } from '../protocol/index.ts';
import type { LogLine } from '../protocol/index.ts';
import { createLog } from './log.ts';
import type { WorkerLog } from './log.ts';

const MEGABYTE = 1024 * 1024;
const KILOBYTE = 'x'.repeat(1023);

interface Printed {
  readonly log: WorkerLog;
  /** How much of it is still to be read. */
  waiting: number;
  readonly lines: () => LogLine[];
  /** What the worker itself says. */
  readonly said: () => string[];
  readonly count: () => number;
}

function printed(): Printed {
  const written: string[] = [];
  const lines = (): LogLine[] => written.map((text) => logLine.parse(JSON.parse(text)));
  const state: Printed = {
    log: createLog(
      0,
      (text) => written.push(text),
      {},
      () => state.waiting,
    ),
    waiting: 0,
    lines,
    said: () => lines().flatMap(({ source, text }) => (source === 'worker' ? [text] : [])),
    count: () => written.length,
  };
  return state;
}

function flood(log: WorkerLog, kilobytes: number): void {
  for (let n = 0; n < kilobytes; n++) log.line('agent', KILOBYTE);
}

it('cuts a line without end', () => {
  const { log, lines } = printed();
  const about = log.about('T-1', 'a-1');
  about.line('agent', 'x'.repeat(30_000_000));
  about.line('agent', 'short');
  expect(lines().every(({ text }) => text.length < 40_000)).toBe(true);
  expect(lines()[0]?.text).toContain('x … (29967232 more characters)');
  expect(lines()[1]).toMatchObject({ task: 'T-1', text: 'short' });
});

describe('what an attempt may print', () => {
  it("has a limit: beyond it lines are counted, and the worker's own lines are still printed", () => {
    const { log, said, lines } = printed();
    const about = log.about('T-1', 'a-1');
    about.line('worker', 'T-1 begins');
    flood(about, 20 * 1024);
    about.sumUp();
    about.line('worker', 'T-1 ends');
    const kept = lines().length - 4;
    const [begins, from, sum, ends] = said();
    expect([begins, from, ends]).toEqual([
      'T-1 begins',
      'from here on lines are left out: an attempt may print 16 MiB',
      'T-1 ends',
    ]);
    const left = 20 * 1024 - kept;
    expect(sum).toMatch(/^[\d,]+ lines \([\d.]+ MiB\) were left out: an attempt may print 16 MiB$/);
    expect(sum).toContain(`${left.toLocaleString('en-US')} lines (${(left / 1024).toFixed(0).at(0)}`);
    expect(kept / 1024).toBeGreaterThan(12);
    expect(kept / 1024).toBeLessThan(16);
  });

  it('is summed up once for each job, also when all of its lines are left out', () => {
    const { log, said } = printed();
    const about = log.about('T-1', 'a-1');
    flood(about, 20 * 1024);
    about.sumUp();
    about.line('verify', 'one');
    about.line('verify', 'two');
    about.sumUp();
    about.sumUp();
    expect(said()).toHaveLength(4);
    expect(said()[3]).toBe('2 lines (8 bytes) were left out: an attempt may print 16 MiB');
  });

  it('has a limit of its own: the next attempt may print as much, and so may each set-up', () => {
    const { log, said, count } = printed();
    flood(log.about('T-1', 'a-1'), 20 * 1024);
    const before = count();
    log.about('T-1', 'a-2').line('agent', 'one');
    expect(count()).toBe(before + 1);
    flood(log, 20 * 1024);
    log.sumUp();
    const again = count();
    log.line('setup', 'one');
    expect(count()).toBe(again + 1);
    expect(said()).toHaveLength(3);
  });
});

it('holds no more than that in memory while the log is not read, and says so when it is read again', () => {
  const state = printed();
  const about = state.log.about('T-1', 'a-1');
  about.line('agent', 'one');
  state.waiting = 17 * MEGABYTE;
  flood(about, 1000);
  state.waiting = 9 * MEGABYTE;
  flood(about, 24);
  about.line('worker', 'still there');
  state.waiting = 7 * MEGABYTE;
  about.line('agent', 'two');
  expect(state.lines().map(({ text }) => text)).toEqual([
    'one',
    'from here on lines are left out: they come faster than they are read',
    'still there',
    '1,024 lines (1 MiB) were left out: they come faster than they are read',
    'two',
  ]);
});
