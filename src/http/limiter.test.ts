import { expect, it } from 'vitest';
import { createLimiter } from './limiter.ts';

it('lets through as many at once as in a minute, and then evenly, for each by itself', () => {
  let time = 0;
  const limiter = createLimiter(60, () => time);
  const taken = (key: string): number =>
    Array.from({ length: 100 }, () => limiter.take(key)).filter((wait) => wait === 0).length;
  expect(taken('anna')).toBe(60);
  expect(limiter.take('anna')).toBeCloseTo(1000);
  expect(taken('ben')).toBe(60);
  time = 1000;
  expect(taken('anna')).toBe(1);
  time = 11_000;
  expect(taken('anna')).toBe(10);
  time = 1e9;
  expect(taken('anna')).toBe(60);
});

it('refusals use nothing up, and who has not asked for long is forgotten', () => {
  let time = 0;
  const limiter = createLimiter(2, () => time);
  for (let key = 0; key < 1000; key += 1) limiter.take(`project-${key}`);
  for (let again = 0; again < 1000; again += 1) limiter.take('project-0');
  expect(limiter.size()).toBe(1000);
  time = 60_001;
  expect(limiter.take('project-0')).toBe(0);
  expect(limiter.size()).toBe(1);
});
