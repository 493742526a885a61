import { afterAll, describe, expect, it } from 'vitest';
import { MARK, newSpec, startContainer } from '../support/containers.ts';
import { dockerForTests, forgetBuilds } from '../support/docker.ts';
import { createFakeEngine, createFakeEngineMachine, takeDown } from '../support/fake-engine.ts';
import { engineContract } from './engine-contract.ts';
import { PROGRAMS, runFake } from './engine-programs.ts';

const { engine, image, again, why } = await dockerForTests();

if (why === '') {
  engineContract('docker', () => ({ engine, image, again }));
  afterAll(() => forgetBuilds(MARK));
} else {
  describe('the engine contract: docker', () => it.skip(why));
}

const machine = createFakeEngineMachine(runFake, ['fake-image']);
engineContract('fake', () => ({
  engine: createFakeEngine(machine),
  image: 'fake-image',
  again: () => createFakeEngine(machine),
}));

it('a fake engine that is taken down fails every call and every wait, and is back with its containers', async () => {
  const broken = createFakeEngineMachine(runFake, ['fake-image']);
  const fake = createFakeEngine(broken);
  const { id } = await startContainer(fake, newSpec('fake-image', PROGRAMS.sleeper.shell));
  const exit = fake.waitContainer(id);
  takeDown(broken);
  for (const end of [exit, fake.info(), fake.signalContainer(id, 'SIGTERM')]) {
    await expect(end).rejects.toMatchObject({ code: 'ENGINE_UNREACHABLE' });
  }
  broken.up = true;
  expect(await fake.listContainers(MARK)).toMatchObject([{ id, status: 'running' }]);
});
