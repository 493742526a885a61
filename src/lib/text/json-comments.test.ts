import { expect, it } from 'vitest';
import { withoutComments } from './json-comments.ts';

it.each<[string, unknown]>([
  ['{ "a": 1 } // end', { a: 1 }],
  ['// first\n{ "a": /* one */ 1 }', { a: 1 }],
  ['/* of\nseveral lines */ { "a": [1, 2,], }', { a: [1, 2] }],
  ['{ "a": [1, // one\n /* and */ ], /* , */ }', { a: [1] }],
  ['{ "url": "https://x.org/*y*/", "b": "\\"//", "c": ",]" }', { url: 'https://x.org/*y*/', b: '"//', c: ',]' }],
  ['{ "a": "\\\\" /* x */ }', { a: '\\' }],
  ['[1, /* one */ 2 /* two */]', [1, 2]],
  ['[1, // as in [a]\n 2]', [1, 2]],
  ['[1, /* ** / */ ]', [1]],
])('%j is read', (text, value) => {
  const plain = withoutComments(text);
  expect(JSON.parse(plain)).toEqual(value);
  expect(plain).toHaveLength(text.length);
  expect(plain.split('\n').map((line) => line.length)).toEqual(text.split('\n').map((line) => line.length));
});

it.each(['{ "a": 1, , }', '[,]x', '{ "a": 1 /* open }', '{ "a": "open }', '{ "a" 1 }'])('%j stays wrong', (text) => {
  expect(() => JSON.parse(withoutComments(text)) as unknown).toThrow(SyntaxError);
});

it.each([
  ['comments that do not end', '/*'],
  ['a string that does not end', '\\"'],
  ['commas before comments', ',/**/'],
  ['commas before comments that do not end', ',/*'],
  ['stars', '*'],
])('%s are read in one pass, however long the text is', (_, part) => {
  const text = `["/*${part.repeat(400_000)}`;
  for (const begun of [text, text.slice(1), text.slice(2)]) expect(withoutComments(begun)).toHaveLength(begun.length);
});
