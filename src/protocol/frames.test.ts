import { expect, it } from 'vitest';
import { createFrameReader, encodeFrame, encodeJson, FRAME, FrameTooLong, LONGEST_PAYLOAD } from './frames.ts';
import type { Frame } from './frames.ts';

function readAll(chunks: readonly Buffer[]): Frame[] {
  const frames: Frame[] = [];
  const read = createFrameReader((frame) => frames.push(frame));
  for (const chunk of chunks) read(chunk);
  return frames;
}

const STREAM = Buffer.concat([
  encodeFrame(FRAME.stdout, 7, Buffer.from([0, 255, 10])),
  encodeFrame(FRAME.stderr, 8, Buffer.alloc(0)),
  encodeJson(FRAME.end, 4_294_967_295, { code: 0 }),
]);

it.each([1, 2, 8, 9, 10, 13, STREAM.length])('reads the same frames from chunks of %i bytes', (size) => {
  const chunks: Buffer[] = [];
  for (let at = 0; at < STREAM.length; at += size) chunks.push(STREAM.subarray(at, at + size));
  expect(readAll(chunks)).toEqual([
    { kind: FRAME.stdout, id: 7, payload: Buffer.from([0, 255, 10]) },
    { kind: FRAME.stderr, id: 8, payload: Buffer.alloc(0) },
    { kind: FRAME.end, id: 4_294_967_295, payload: Buffer.from('{"code":0}') },
  ]);
});

it('takes thousands of frames of one byte in one chunk', () => {
  const one = encodeFrame(FRAME.stdout, 1, Buffer.from('x'));
  expect(readAll([Buffer.concat(Array.from({ length: 20_000 }, () => one))])).toHaveLength(20_000);
});

it('refuses a longer frame by its header alone', () => {
  const header = Buffer.alloc(9);
  header.writeUInt32BE(LONGEST_PAYLOAD + 1);
  expect(() => readAll([header])).toThrow(FrameTooLong);
});
