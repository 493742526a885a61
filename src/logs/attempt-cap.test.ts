import { describe, expect, it } from 'vitest';
import { capAttempts } from './attempt-cap.ts';

const CAPS = { firstBytes: 100, lastBytes: 30 };

interface Bench extends ReturnType<typeof capAttempts> {
  work: string;
  readonly written: string[];
}

function openBench(caps = CAPS): Bench {
  const bench = { work: 'A.1', written: [] as string[] };
  const cap = capAttempts(
    (text) => bench.written.push(text),
    () => bench.work,
    caps,
  );
  return Object.assign(bench, cap);
}

const flood = (bench: Bench, count: number): void => {
  for (let number = 0; number < count; number += 1) bench.push(`flood ${number}\n`);
};

describe('the log of several attempts', () => {
  it('has all lines of attempts that print little, at once', () => {
    const bench = openBench();
    for (const work of ['A.1', 'B.1', 'C.1', 'D.1', 'E.1']) {
      bench.work = work;
      bench.push(`${work} ${'x'.repeat(60)}\n`);
      bench.push(`${work} ends\n`);
    }
    bench.end();
    expect(bench.written.map((line) => line.slice(0, 3))).toEqual(
      ['A', 'B', 'C', 'D', 'E'].flatMap((id) => [`${id}.1`, `${id}.1`]),
    );
  });

  it('has the beginning and the end of an attempt that prints too much, and all lines of the others', () => {
    const bench = openBench();
    bench.push('A begins\n');
    bench.push('A ends\n');
    bench.work = 'B.1';
    bench.push('B begins\n');
    flood(bench, 100_000);
    bench.push('B ends\n');
    bench.work = 'C.1';
    flood(bench, 2);
    bench.push('C ends\n');
    bench.end();
    const { written } = bench;
    expect(written.slice(0, 4)).toEqual(['A begins\n', 'A ends\n', 'B begins\n', 'flood 0\n']);
    expect(written.join('')).toMatch(
      /… this attempt has printed [\d.]+ \w+; [^\n]*\n… 999\d\d lines of this attempt were left out here\nflood 99999\nB ends\nflood 0\nflood 1\nC ends\n$/,
    );
    expect(written.length).toBeLessThan(40);
  });

  it('keeps the order of lines that it writes later, also of lines that would still fit', () => {
    const bench = openBench({ firstBytes: 10, lastBytes: 1000 });
    for (const text of ['12345\n', '123456789\n', 'x\n', 'y\n']) bench.push(text);
    expect(bench.written).toEqual(['12345\n', expect.stringMatching(/^… /)]);
    bench.end();
    expect(bench.written.slice(2)).toEqual(['123456789\n', 'x\n', 'y\n']);
  });

  it('has the last line also when that line alone is too long', () => {
    const bench = openBench({ firstBytes: 5, lastBytes: 5 });
    for (const text of ['first one\n', 'the last one\n']) bench.push(text);
    bench.end();
    expect(bench.written.slice(1)).toEqual(['… 1 lines of this attempt were left out here\n', 'the last one\n']);
  });
});
