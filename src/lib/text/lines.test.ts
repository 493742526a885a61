import { describe, expect, it } from 'vitest';
import { createLineSplitter, createTail } from './lines.ts';

function split(chunks: readonly string[], limit?: number): string[] {
  const lines: string[] = [];
  const splitter = createLineSplitter((line) => lines.push(line), limit);
  for (const chunk of chunks) splitter.push(chunk);
  splitter.end();
  return lines;
}

describe('cutting a stream into lines', () => {
  it.each<[string, string[], string[]]>([
    ['nothing', [], []],
    ['empty chunks', ['', ''], []],
    ['one line', ['one\n'], ['one']],
    ['several lines in a chunk', ['one\ntwo\n\nthree\n'], ['one', 'two', '', 'three']],
    ['a line in several chunks', ['o', 'n', 'e\ntw', 'o\n'], ['one', 'two']],
    ['a last line without an end', ['one\ntwo'], ['one', 'two']],
    ['line ends of Windows', ['one\r\ntwo\r', '\n', '\r\n'], ['one', 'two', '']],
    ['a carriage return within a line', ['10%\r100%\n'], ['10%\r100%']],
    ['letters of all kinds', ['grün 日', '本 🎉\n'], ['grün 日本 🎉']],
  ])('handles %s', (_, chunks, lines) => {
    expect(split(chunks)).toEqual(lines);
  });

  it('gives the same lines however the text is cut', () => {
    const text = 'one\r\n\ntwo ü\nthree is longer\nlast';
    const whole = split([text], 8);
    for (let size = 1; size < text.length; size++) {
      const chunks = text.match(new RegExp(`.{1,${size}}`, 'gs')) ?? [];
      expect(split(chunks, 8)).toEqual(whole);
    }
    expect(whole).toEqual(['one', '', 'two ü', 'three is … (7 more characters)', 'last']);
  });

  it('keeps a line of exactly the limit, also with a Windows line end', () => {
    expect(split(['12345678\r\n12345678\n123456789\n'], 8)).toEqual([
      '12345678',
      '12345678',
      '12345678 … (1 more characters)',
    ]);
  });

  it('keeps no more than the limit of a line without end', () => {
    const [line, ...others] = split(Array.from({ length: 1000 }, () => 'x'.repeat(10_000)));
    expect(others).toEqual([]);
    expect(line).toHaveLength(32_768 + ' … (9967232 more characters)'.length);
    expect(line?.endsWith(' … (9967232 more characters)')).toBe(true);
  });
});

function tailOf(chunks: readonly string[], limit: number): string {
  const tail = createTail(limit);
  for (const chunk of chunks) tail.push(chunk);
  return tail.text();
}

describe('the tail of an output', () => {
  it.each<[string[], string]>([
    [[], ''],
    [['12345'], '12345'],
    [['123456'], '…23456'],
    [['12', '34', '56', '78', '9'], '…56789'],
    [['123456789012345678901234567890'], '…67890'],
    [['12345678901', '2'], '…89012'],
  ])('of %j is %j', (chunks, text) => {
    expect(tailOf(chunks, 5)).toBe(text);
  });

  it('can be read at any time', () => {
    const tail = createTail(5);
    tail.push('1234567');
    expect([tail.text(), tail.text()]).toEqual(['…34567', '…34567']);
    tail.push('8');
    expect(tail.text()).toBe('…45678');
  });
});
