import { describe, expect, it } from 'vitest';
import { jsonProblem } from './json-problem.ts';

const VALID = ['{}', '[]', ' {"a": [1, -2.5e+3, "x\\u00e4\\n", true, null, {"b": []}]}\n', '"text"', '0'];

describe('what is wrong with a text that is not JSON', () => {
  it.each([
    ['', 'line 1, column 1: it is not JSON: a value must come here, not the end of the text'],
    ['Certainly! Here it is.', 'line 1, column 1: it is not JSON: a value must come here, not "Certainly"'],
    ['{\n "a": 1\n "b": 2 }', 'line 3, column 2: it is not JSON: "," or "}" must come here, not "b"'],
    ['{ "a" 1 }', 'line 1, column 7: it is not JSON: ":" must come here, not "1"'],
    ['{ a: 1 }', 'line 1, column 3: it is not JSON: a name in double quotes or "}" must come here, not "a"'],
    ['{ "a": 1, }', 'line 1, column 11: it is not JSON: a name in double quotes must come here, not "}"'],
    ['[1, 2', 'line 1, column 6: it is not JSON: "," or "]" must come here, not the end of the text'],
    ['[1}', 'line 1, column 3: it is not JSON: "," or "]" must come here, not "}"'],
    ['{}\n{}', 'line 2, column 1: it is not JSON: the end of the text must come here, not "{"'],
    [
      '["a\nb"]',
      'line 1, column 2: it is not JSON: a value or "]" must come here, not a text that does not end on its line',
    ],
    [
      '["\\x"]',
      'line 1, column 2: it is not JSON: a value or "]" must come here, not a text that does not end on its line',
    ],
    ['[01]', 'line 1, column 2: it is not JSON: a value or "]" must come here, not "01"'],
    ['[True]', 'line 1, column 2: it is not JSON: a value or "]" must come here, not "True"'],
    ['[😀]', 'line 1, column 2: it is not JSON: a value or "]" must come here, not "😀"'],
  ])('%j', (text, words) => {
    expect(() => JSON.parse(text) as unknown).toThrow();
    expect(jsonProblem(text, 'unknown').startsWith(words), jsonProblem(text, 'unknown')).toBe(true);
  });

  it('is found wherever a text breaks off, and nowhere in one that is JSON', () => {
    const whole = VALID[2] ?? '';
    const length = whole.trimEnd().length;
    for (let end = 0; end < length; end += 1)
      expect(jsonProblem(whole.slice(0, end), '')).toMatch(/^line 1, column \d+: /);
    for (const text of VALID) expect(jsonProblem(text, 'no reason')).toBe('it is not JSON: no reason');
  });

  it('is found in a text of many brackets', () => {
    expect(jsonProblem('['.repeat(100_000), '')).toContain('column 100001');
  });
});
