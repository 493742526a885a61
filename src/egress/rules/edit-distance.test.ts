import { expect, it } from 'vitest';
import { editDistance } from './edit-distance.ts';

it.each<[string, string, number]>([
  ['npm', 'npm', 0],
  ['nmp', 'npm', 1],
  ['npmm', 'npm', 1],
  ['antropic', 'anthropic', 1],
  ['antrophic', 'anthropic', 2],
  ['githib', 'github', 1],
  ['pipy', 'pypi', 2],
  ['pip', 'pypi', 2],
  ['nas', 'npm', 2],
  ['', 'npm', 3],
])('from %j to %j it is %i', (one, other, distance) => {
  expect(editDistance(one, other)).toBe(distance);
  expect(editDistance(other, one)).toBe(distance);
});
