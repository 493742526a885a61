import { expect, it } from 'vitest';
import { nearest } from './nearest.ts';

const KNOWN = ['dependencies', 'verification', 'acceptance_criteria', 'files', 'run', 'level', 'title'];

it.each([
  ['verfication', 'verification'],
  ['dependancies', 'dependencies'],
  ['Dependencies', 'dependencies'],
  ['acceptanceCriteria', 'acceptance_criteria'],
  ['acceptance-criteria', 'acceptance_criteria'],
  ['file', 'files'],
  ['titel', 'title'],
  ['levle', 'level'],
  ['RUN', 'run'],
])('%s is %s', (word, meant) => {
  expect(nearest(word, KNOWN)).toBe(meant);
});

it.each(['runs', 'ru', 'phase', 'depends', 'criteria', '', 'x'.repeat(100_000)])('%.10s is none of them', (word) => {
  expect(nearest(word, KNOWN)).toBeUndefined();
});

it('is the nearest one where several are near', () => {
  expect(nearest('fileX', ['filed', 'file_x'])).toBe('file_x');
});
