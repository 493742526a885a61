import { expect, it } from 'vitest';
import { createWorld } from '../../test/support/decision-world.ts';
import { tooLarge } from './decide-checkout.ts';

const MIB = 1024 ** 2;
const heaviest = [
  { path: 'a.bin', bytes: 200 * MIB },
  { path: 'b.bin', bytes: 100 * MIB },
];

it('a checkout may grow to its limit', () => {
  expect(tooLarge({ bytes: 300 * MIB, roomBytes: 300 * MIB, heaviest })).toBeUndefined();
  expect(tooLarge({ bytes: 300 * MIB, roomBytes: 299 * MIB, heaviest })).toBe(
    'the run would add 300 MiB to a checkout, and 299 MiB may be added (workers.container.disk); ' +
      'most of it: a.bin (200 MiB), b.bin (100 MiB)',
  );
});

it('when the base alone exceeds the limit, only what makes it larger is refused', () => {
  expect(tooLarge({ bytes: 0, roomBytes: -5 * MIB, heaviest: [] })).toBeUndefined();
  expect(tooLarge({ bytes: MIB, roomBytes: -5 * MIB, heaviest })).toContain('0 bytes may be added');
});

it('an attempt whose checkout is too large fails, and the feedback for its next try says why', () => {
  const world = createWorld([{ id: 'A' }]);
  world.settle();
  world.reports(0, { checkout: { bytes: 300 * MIB, roomBytes: 200 * MIB, heaviest } });
  world.settle();
  expect(world.state.tasks['A']).toMatchObject({
    failures: 1,
    feedback: expect.stringContaining('a.bin (200 MiB)'),
    attempts: [{ outcome: 'too-large' }, {}],
  });
});
