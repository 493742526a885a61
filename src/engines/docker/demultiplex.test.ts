import { randomBytes } from 'node:crypto';
import { PassThrough, Readable, Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createFrameReader, demultiplex } from './demultiplex.ts';

type Frame = readonly [type: number, content: Buffer];

function encode(frames: readonly Frame[]): Buffer {
  return Buffer.concat(
    frames.flatMap(([type, content]) => {
      const header = Buffer.alloc(8);
      header.writeUInt8(type, 0);
      header.writeUInt32BE(content.length, 4);
      return [header, content];
    }),
  );
}

/** What the reader must find, by the frames themselves. */
function expected(frames: readonly Frame[], types: readonly number[]): string {
  return Buffer.concat(frames.filter(([type]) => types.includes(type)).map(([, content]) => content)).toString('hex');
}

/** A small generator of its own, so that a failure comes back with its seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function cut(bytes: Buffer, random: (below: number) => number, longest: number): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = 1 + random(longest);
    chunks.push(bytes.subarray(at, at + length));
    at += length;
  }
  return chunks;
}

function readAll(chunks: readonly Buffer[]): Record<'stdout' | 'stderr' | 'engine', string> {
  const read = createFrameReader();
  const found = { stdout: '', stderr: '', engine: '' };
  for (const chunk of chunks) for (const { stream, data } of read(chunk)) found[stream] += data.toString('hex');
  return found;
}

describe("the engine's mixed stream", () => {
  it.each(Array.from({ length: 200 }, (_, seed) => seed))('is read from chunks of any size (seed %i)', (seed) => {
    const random = randomOf(seed);
    const frames = Array.from({ length: random(40) }, (): Frame => [random(4), randomBytes(random(3) && random(300))]);
    const found = readAll(cut(encode(frames), random, 1 + random(random(2) === 0 ? 9 : 500)));
    expect(found).toEqual({
      stdout: expected(frames, [0, 1]),
      stderr: expected(frames, [2]),
      engine: expected(frames, [3]),
    });
  });

  it('may have thousands of tiny frames in one chunk', () => {
    const frames = Array.from({ length: 100_000 }, (_, n): Frame => [1 + (n % 2), Buffer.from([n & 0xff])]);
    const found = readAll([encode(frames)]);
    expect(found.stdout).toBe(expected(frames, [1]));
    expect(found.stderr).toBe(expected(frames, [2]));
  });

  it('may have a huge frame, which is not copied', () => {
    const [frame, length] = [encode([[1, Buffer.alloc(0)]]), 64 * 1024 * 1024];
    frame.writeUInt32BE(length, 4);
    const chunk = Buffer.alloc(64 * 1024, 7);
    const read = createFrameReader();
    let bytes = [...read(frame)].length;
    for (let n = 0; n < length / chunk.length; n++) {
      for (const { data } of read(chunk)) {
        expect(data.buffer).toBe(chunk.buffer);
        bytes += data.length;
      }
    }
    expect(bytes).toBe(length);
    expect([...read(encode([[2, Buffer.from('x')]]))]).toMatchObject([{ stream: 'stderr' }]);
  });

  it.each([
    ['a stream that is not known', Buffer.from([4, 0, 0, 0, 0, 0, 0, 1, 65])],
    ['text without frames', Buffer.from('plain text of a terminal')],
    ['bytes out of step', Buffer.from([1, 0, 9, 0, 0, 0, 0, 1, 65])],
  ])('is refused when it is %s', (_, bytes) => {
    expect(() => readAll([bytes])).toThrow(/no frames/);
  });
});

describe('the two sides of an attachment', () => {
  it('are written no faster than they are read', async () => {
    let produced = 0;
    const source = Readable.from(
      (function* chunks() {
        for (; produced < 1000; produced++) yield encode([[1, Buffer.alloc(10_000)]]);
      })(),
    );
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const work = demultiplex(source, stdout, stderr);
    for (let n = 0; n < 100; n++) await turn();
    expect(produced).toBeLessThan(50);
    stdout.resume();
    await work;
    expect(produced).toBe(1000);
  });

  it('do not block each other when one of them is destroyed', async () => {
    const source = Readable.from(
      Array.from({ length: 100 }, () =>
        encode([
          [1, Buffer.alloc(50_000)],
          [2, Buffer.from('e')],
        ]),
      ),
    );
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    let text = '';
    stderr.setEncoding('utf8').on('data', (part: string) => (text += part));
    setImmediate(() => stdout.destroy());
    await demultiplex(source, stdout, stderr);
    stderr.end();
    await turn();
    expect(text).toBe('e'.repeat(100));
  });

  it('get every byte in order from slow readers', async () => {
    const random = randomOf(7);
    const frames = Array.from({ length: 500 }, (): Frame => [1 + random(2), randomBytes(random(5000))]);
    const seen: Buffer[][] = [[], []];
    const [stdout, stderr] = seen.map(
      (parts) => new Writable({ write: (chunk: Buffer, _, done) => void (parts.push(chunk), setImmediate(done)) }),
    ) as [Writable, Writable];
    await demultiplex(Readable.from(cut(encode(frames), random, 3000)), stdout, stderr);
    await Promise.all([stdout, stderr].map((sink) => new Promise<void>((resolve) => sink.end(() => resolve()))));
    expect(seen.map((parts) => Buffer.concat(parts).toString('hex'))).toEqual([
      expected(frames, [1]),
      expected(frames, [2]),
    ]);
  });
});
