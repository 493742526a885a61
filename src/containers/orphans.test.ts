import { expect, it } from 'vitest';
import { createFakeEngine, createFakeEngineMachine } from '../../test/support/fake-engine.ts';
import { removeOrphans } from './orphans.ts';

it('what a dead owner has left is removed and named, and what belongs to a live one stays', async () => {
  const engine = createFakeEngine(createFakeEngineMachine(() => undefined, []));
  for (const [name, owner] of [
    ['lost', 'one'],
    ['used', 'two'],
  ] as const)
    await engine.createVolume(name, { place: 'here', 'mahabharatha.owner': owner, 'mahabharatha.kind': 'server' });
  await engine.createVolume('foreign', { place: 'here' });
  const notes = await removeOrphans(engine, { labels: { place: 'here' }, isAlive: async ({ id }) => id === 'two' });
  expect(notes).toEqual(['removed what server one had left behind: lost']);
  expect((await engine.listVolumes({ place: 'here' })).map(({ name }) => name)).toEqual(['used', 'foreign']);
});
