import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readBuild } from './build-output.ts';
import type { BuildMessage } from './build-output.ts';
import { jsonLines } from './json-lines.ts';

async function readAll(messages: readonly BuildMessage[]) {
  const lines: string[] = [];
  return { lines, ...(await readBuild(Readable.from(messages), (line) => lines.push(line))) };
}

describe('what a build prints', () => {
  it('comes in whole lines, without colours and empty ones', async () => {
    const { lines, failure, imageId } = await readAll([
      { stream: 'Step 1/2 : FROM x' },
      { stream: '\n' },
      { stream: ' ---> Runn' },
      { stream: 'ing\n\u001B[31mred\u001B[0m\n\n10%\r100%\r\nend' },
      { aux: { ID: 'sha256:1' } },
      { aux: { ID: 'sha256:2' } },
    ]);
    expect(lines).toEqual(['Step 1/2 : FROM x', ' ---> Running', 'red', '10%', '100%', 'end']);
    expect([failure, imageId]).toEqual([undefined, 'sha256:2']);
  });

  it('has the states of a pull, and not its percentages', async () => {
    const { lines } = await readAll([
      { status: 'Pulling from library/x', id: 'latest' },
      { status: 'Downloading', id: 'abc', progressDetail: { current: 5 } },
      { status: 'Pull complete', id: 'abc', progressDetail: {} },
      { status: 'Status: Downloaded' },
    ]);
    expect(lines).toEqual(['latest: Pulling from library/x', 'abc: Pull complete', 'Status: Downloaded']);
  });

  it('has further line ends where it has none of its own, so that it is not held as a whole', async () => {
    const piece = { stream: 'x'.repeat(16_000) };
    const { lines, last } = await readAll([...Array.from({ length: 50 }, () => piece), { stream: '\nend\n' }]);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(50_000);
    expect(lines.at(-1)).toBe('end');
    expect(last.join('').length).toBeLessThan(20 * 50_000);
  });

  it('is kept at its end, for the error', async () => {
    const many = Array.from({ length: 50 }, (_, n) => ({ stream: `line ${n}\n` }));
    const { last, failure, imageId } = await readAll([...many, { errorDetail: { message: 'no room' }, error: 'x' }]);
    expect(last).toEqual(many.slice(30).map(({ stream }) => stream.trim()));
    expect([failure, imageId]).toEqual(['no room', undefined]);
  });
});

it('JSON lines are read from chunks of any size, also when one ends within a character', async () => {
  const bytes = Buffer.from('{"a":"ü"}\r\n\n{"b":[1]}\n{"c":null}');
  for (let size = 1; size < bytes.length; size++) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
      bytes.subarray(n * size, (n + 1) * size),
    );
    const values: unknown[] = [];
    for await (const value of jsonLines(Readable.from(chunks))) values.push(value);
    expect(values).toEqual([{ a: 'ü' }, { b: [1] }, { c: null }]);
  }
});
