import { expect, it } from 'vitest';
import { egressPreamble, isInReach, LONGEST_PREAMBLE, readEgressPreamble, reachPlace, reachText } from './egress.ts';

const TOKEN = 'a'.repeat(64);

it.each([undefined, 'github.com:443', 'a.test:443,*.b.test:80,fd12::5:8080'])(
  'a preamble with the reach %s is read as it was written',
  (reach) => {
    const text = egressPreamble(12, TOKEN, { reach });
    expect(readEgressPreamble(`${text}more`)).toEqual({
      way: 'worker',
      worker: 12,
      reach,
      token: TOKEN,
      bytes: text.length,
    });
    expect(readEgressPreamble(text.slice(0, -1))).toBeUndefined();
  },
);

it.each(['worker 1 a b ', 'worker 1 A.test ', 'worker 1 a.test\n ', 'x'.repeat(LONGEST_PREAMBLE)])(
  '%j is the beginning of none',
  (text) => {
    expect(readEgressPreamble(`${text}${TOKEN}\n`)).toBeNull();
  },
);

it('a reach has its hosts, with their ports, and the names below where that is said', () => {
  const reach = reachText([reachPlace('github.com', 443), reachPlace('*.b.test', 80)]);
  const places: [string, number][] = [
    ['github.com', 443],
    ['github.com', 80],
    ['xgithub.com', 443],
    ['a.b.test', 80],
    ['b.test', 80],
    ['a.b.test', 443],
  ];
  expect(places.filter((place) => isInReach(reach, ...place))).toEqual([
    ['github.com', 443],
    ['a.b.test', 80],
  ]);
  expect(isInReach(undefined, 'any.test', 1)).toBe(true);
});
