import { describe, expect, it } from 'vitest';
import {
  line,
  painted,
  printable,
  printableBlock,
  printableJson,
  printableLines,
  printableOutput,
  withoutControls,
} from './printable.ts';
import type { Printable } from './printable.ts';

const HOSTILE = '\u001B]52;c;aGk=\u0007a\nb\r\t\u009B2J\u202Ec\u200B\u2028d\uD800';

const out = (text: Printable): string => text.toString();

describe('a text from outside, as part of one line', () => {
  it.each([
    ['plain ü 漢 🙂', 'plain ü 漢 🙂'],
    ['one\ntwo\r\n\tthree', 'one\\ntwo\\r\\n\\tthree'],
    ['\u001B[2J\u001B[Hcleared', '\\u001b[2J\\u001b[Hcleared'],
    ['\u001B]0;a title\u0007after', '\\u001b]0;a title\\u0007after'],
    ['C1 \u009B2J', 'C1 \\u009b2J'],
    ['turned \u202Egnp.exe \u2066\u200F\u061C', 'turned \\u202egnp.exe \\u2066\\u200f\\u061c'],
    ['no room \u200B\uFEFF\u2060\u00AD', 'no room \\u200b\\ufeff\\u2060\\u00ad'],
    ['other line ends \u2028\u2029\u0085', 'other line ends \\u2028\\u2029\\u0085'],
    ['half a letter \uD83D', 'half a letter \\ud83d'],
    ['tags \u{E0041}', 'tags \\udb40\\udc41'],
  ])('%j is shown as %j', (text, shown) => {
    expect(printable(text).toString()).toBe(shown);
    expect(line`${text}`.toString()).toBe(shown);
  });

  it('leaves the line ends and colours of our own words around it', () => {
    const red = painted('a\u001B[0mb', 31, 39);
    expect(line`${red}: ${'x\ny'} ${7}\n`.toString()).toBe('\u001B[31ma\\u001b[0mb\u001B[39m: x\\ny 7\n');
    expect(printableLines([line`a`, printable('b\nc')]).toString()).toBe('a\nb\\nc\n');
  });

  it('does not compile where a Printable is required', () => {
    // @ts-expect-error -- a raw text
    out('raw');
    // @ts-expect-error -- a raw text with a printable one in it
    out(`${printable('a').toString()} b`);
    // @ts-expect-error -- something that only looks like one
    out({ toString: () => 'raw' });
    expect(out(line`made ${'raw'}`)).toBe('made raw');
  });
});

describe("a line of a program's output", () => {
  it.each([
    ['\u001B[2J\u001B[Hcleared', 'cleared'],
    ['\u001B]8;;http://x\u001B\\link\u001B]8;;\u001B\\', 'link'],
    ['\u001BP1$q"p\u001B\\device', 'device'],
    ['a\tb\r', 'a    b'],
    ['forged\n12:00:00 run complete', 'forged\\n12:00:00 run complete'],
    ['unfinished \u001B[', 'unfinished '],
    ['\u001B', ''],
  ])('%j is shown as %j', (text, shown) => {
    expect(printableOutput(text).toString()).toBe(shown);
    expect(printableOutput(text, true).toString()).toBe(shown);
  });

  it('keeps colours of letters when they are wanted, and resets them at its end', () => {
    const text = '\u001B[1;31mred\u001B[2K\u001B[m';
    expect(printableOutput(text, true).toString()).toBe('\u001B[1;31mred\u001B[m\u001B[0m');
    expect(printableOutput(text).toString()).toBe('red');
  });

  it.each(['8', '7', '40', '30', '38;5;16', '48;2;0;0;0', '31;8', '3132'])('loses the colour %s', (code) => {
    expect(printableOutput(`\u001B[${code}mhidden`, true).toString()).toBe('hidden');
  });
});

it('a text of several lines gets a margin, so that none looks like a line of ours', () => {
  expect(printableBlock('first\nerror: forged\n    deeper\n\n\u001B[2Jlast', '  ').toString()).toBe(
    'first\n  error: forged\n    deeper\n\n  last',
  );
});

it('JSON has nothing that a terminal obeys, and parses to the same value', () => {
  const json = printableJson({ [HOSTILE]: [HOSTILE] }).toString();
  expect(json).not.toMatch(/\p{Cc}|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
  expect(JSON.parse(json)).toEqual({ [HOSTILE]: [HOSTILE] });
});

it('what a terminal would obey is removed from a text of several lines', () => {
  expect(withoutControls('\u001B[2Ja\n\tb\u0007 \u202Ec')).toBe('a\n\tb c');
});
