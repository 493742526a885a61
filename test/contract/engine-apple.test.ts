import { afterAll, describe, it } from 'vitest';
import { createAppleEngine } from '../../src/engines/index.ts';
import { APPLE_PROGRAM } from '../support/apple.ts';
import { MARK } from '../support/containers.ts';
import { dockerForTests, forgetBuilds } from '../support/docker.ts';
import { engineContract } from './engine-contract.ts';

const { image, why } = await dockerForTests();

/** The last version with the old forms, and one with the new ones. */
const VERSIONS = ['0.12.1', '1.2.2'] as const;

if (why === '') {
  for (const version of VERSIONS) {
    const make = () => createAppleEngine(APPLE_PROGRAM, { ...process.env, APPLE_VERSION: version });
    const { lacks } = await make().info();
    engineContract(`apple ${version}`, () => ({ engine: make(), image, again: make }), lacks);
  }
  afterAll(() => forgetBuilds(MARK));
} else {
  describe('the engine contract: apple', () => it.skip(why));
}
