import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { textOfRefusal } from '../../../test/support/egress-world.ts';
import { answerTo } from './denial.ts';
import type { Denial } from './denial.ts';
import { createRefusalLog } from './refusal-log.ts';
import type { RefusalLog } from './refusal-log.ts';

let told: string[];
let log: RefusalLog;

beforeEach(() => {
  vi.useFakeTimers();
  told = [];
  log = createRefusalLog((line) => {
    expect(line.endsWith('\n')).toBe(true);
    const { worker } = JSON.parse(line) as { worker: number };
    told.push(`${worker} ${textOfRefusal(line)}`);
  });
});
afterEach(() => {
  log.close();
  vi.useRealTimers();
});

const refuse = (worker: number, host: string, more: Partial<Denial> = {}): void => {
  const target = { host, port: 443, isAddress: false };
  log.add(worker, answerTo({ reason: 'not-listed', target, ...more }, []).refused);
};

describe('the log of refusals', () => {
  it('has the first at once, and then only how often it came again', () => {
    refuse(1, 'a.test');
    expect(told).toEqual(['1 refused a.test:443: not on the allowlist']);
    for (let count = 0; count < 120; count += 1) refuse(1, 'a.test');
    refuse(2, 'a.test');
    vi.advanceTimersByTime(5000);
    expect(told.slice(1)).toEqual([
      '2 refused a.test:443: not on the allowlist',
      '1 refused a.test:443 again, 120 times',
    ]);
    vi.advanceTimersByTime(20_000);
    expect(told).toHaveLength(3);
  });

  it('has a new reason at once', () => {
    refuse(1, 'a.test');
    refuse(1, 'a.test', { reason: 'too-many-connections', detail: '128' });
    expect(told).toHaveLength(2);
  });

  it('has a target as a new one after some quiet rounds', () => {
    refuse(1, 'a.test');
    vi.advanceTimersByTime(61_000);
    refuse(1, 'a.test');
    expect(told).toHaveLength(2);
  });

  it('does not list thousands of targets, but counts them', () => {
    for (let count = 0; count < 5000; count += 1) refuse(1, `${count}.evil.test`);
    expect(told).toHaveLength(20);
    refuse(2, 'a.test');
    expect(told.at(-1)).toContain('2 refused a.test:443');
    vi.advanceTimersByTime(5000);
    expect(told.at(-1)).toBe('1 refused more that is not listed here, 4980 times');
    expect(told).toHaveLength(22);
  });

  it('counts separately what could not be reached: it is allowed', () => {
    for (let count = 0; count < 30; count += 1) {
      refuse(1, `${count}.evil.test`);
      refuse(1, `${count}.good.test`, { reason: 'unreachable', detail: 'no answer' });
    }
    vi.advanceTimersByTime(5000);
    expect(told.slice(-2).toSorted()).toEqual([
      '1 could not reach more that is not listed here, 20 times',
      '1 refused more that is not listed here, 20 times',
    ]);
  });

  it('has room for each worker, however much another asks for', () => {
    for (let round = 0; round < 20; round += 1) {
      for (let worker = 0; worker < 8; worker += 1)
        for (let count = 0; count < 100; count += 1) refuse(worker, `${round}-${count}.evil.test`);
      refuse(9, `${round}.test`);
      expect(told.at(-1)).toBe(`9 refused ${round}.test:443: not on the allowlist`);
      vi.advanceTimersByTime(5000);
    }
    expect(told.length).toBeLessThan(20 * 9 * 22);
  });

  it('has nothing that would move a cursor, hide a text or fill a screen', () => {
    const detail = `\u001b[2Jx\r\n{"worker":9}\u202e\u0000\u009b${'y'.repeat(10_000)}`;
    refuse(1, '', { reason: 'not-for-proxies', target: undefined, detail });
    expect(told[0]).toMatch(/^1 refused \?\[2Jx\?\?\{"worker":9\}\?\?\?y+…: this is not what one asks a proxy for$/);
    expect(told[0]?.length).toBeLessThan(400);
  });

  it('has the last counts when the proxy ends', () => {
    refuse(1, 'a.test');
    refuse(1, 'a.test');
    log.flush();
    expect(told.at(-1)).toBe('1 refused a.test:443 again, 1 time');
  });
});
