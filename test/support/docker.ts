import { execFileSync } from 'node:child_process';
import { createDockerEngine, searchEngine } from '../../src/engines/index.ts';
import type { Engine, Labels } from '../../src/engines/index.ts';

interface DockerForTests {
  readonly engine: Engine;
  readonly image: string;
  /** Another client of the same engine. */
  again(): Engine;
  /** Why tests are skipped, for their names; empty when they run. */
  readonly why: string;
}

/** The engine and the image that tests with real containers use. In CI their absence fails. */
export async function dockerForTests(): Promise<DockerForTests> {
  const image = process.env['MAHABHARATHA_TEST_IMAGE'] ?? 'mahabharatha-base:bookworm';
  const { engine, endpoint, tried } = await searchEngine(process.env);
  const why = await whatIsMissing(engine, image, tried);
  if (why !== '' && process.env['CI'] === 'true') throw new Error(`Tests with containers cannot run: ${why}`);
  return {
    engine: engine ?? nothing(),
    image,
    again: () => (endpoint === undefined ? nothing() : createDockerEngine(endpoint)),
    why,
  };
}

async function whatIsMissing(engine: Engine | undefined, image: string, tried: readonly string[]): Promise<string> {
  if (engine === undefined) return `no container engine: ${tried.join('; ')}`;
  if ((await engine.inspectImage(image)) !== undefined) return '';
  return `no image ${image}; name another one with a shell in MAHABHARATHA_TEST_IMAGE`;
}

/** Removes what failed and aborted builds have left. */
export function forgetBuilds(labels: Labels): void {
  const filters = Object.entries(labels).flatMap(([name, value]) => ['--filter', `label=${name}=${value}`]);
  execFileSync('docker', ['image', 'prune', '--force', ...filters]);
}

function nothing(): Engine {
  return new Proxy({} as Engine, {
    get: () => {
      throw new Error('a test without an engine was not skipped');
    },
  });
}
