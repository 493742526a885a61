import { describe, expect, it } from 'vitest';
import { createUsers } from './users.ts';

const ID = 'f00dfeed0123456789abcdef';

describe.each([false, true])('what programs run as, on an engine that maps users: %s', (mapsUsers) => {
  it('no two are the same, for sessions, caches and programs of one server', () => {
    const users = createUsers({ mapsUsers });
    const all = Array.from({ length: 5000 }, () => [users.nextSession(), users.nextProgram()]).flat();
    expect(new Set([...all, users.ofCache(ID)]).size).toBe(10_001);
    expect(users.ofCache(ID)).toBe(createUsers({ mapsUsers }).ofCache(ID));
    for (const uid of all) {
      expect(uid).toBeGreaterThanOrEqual(mapsUsers ? 10_000 : 1_900_000_000);
      // Linux and engines have no larger ones; where users are mapped, the agent has some from 60,000 on.
      expect(uid).toBeLessThan(mapsUsers ? 60_000 : 2 ** 31);
    }
  });
});

it('two servers begin at different ones', () => {
  const first = Array.from({ length: 20 }, () => createUsers({ mapsUsers: false }).nextProgram());
  expect(new Set(first).size).toBe(20);
});
