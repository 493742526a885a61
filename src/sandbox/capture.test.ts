import { expect, it } from 'vitest';
import { captureOutput } from './capture.ts';

function captured(limit: number, ...chunks: readonly Buffer[]): { text: string; isCut: boolean } {
  const output = captureOutput(limit);
  for (const chunk of chunks) void output.sink('stdout', chunk);
  return output.text('stdout');
}

it('keeps what fits, byte for byte', () => {
  expect(captured(5, Buffer.from('he'), Buffer.from('llo'))).toEqual({ text: 'hello', isCut: false });
  expect(captured(5)).toEqual({ text: '', isCut: false });
});

it.each([
  ['a', 4, 'aaaa'],
  ['é', 4, 'éé'],
  ['é', 5, 'éé'],
  ['€', 5, '€'],
  ['😀', 7, '😀'],
  ['😀', 3, ''],
])('cuts %s after %i bytes between two characters', (character, limit, text) => {
  expect(captured(limit, Buffer.from(character.repeat(10)))).toEqual({ text, isCut: true });
});

it('shows bytes that are no text as such', () => {
  expect(captured(3, Buffer.from([0xff, 0x80, 0x80, 0x80]))).toEqual({ text: '\uFFFD\uFFFD\uFFFD', isCut: true });
});

it('joins a character that comes in two parts, and keeps the streams apart', () => {
  const output = captureOutput(10);
  const [first, second] = [Buffer.from('é').subarray(0, 1), Buffer.from('é').subarray(1)];
  void output.sink('stdout', first);
  void output.sink('stderr', Buffer.from('x'));
  void output.sink('stdout', second);
  expect([output.text('stdout').text, output.text('stderr').text]).toEqual(['é', 'x']);
});
