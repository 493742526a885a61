import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { hasCode, reasonOf, systemCode } from '../lib/index.ts';
import { discover } from './docker/discovery.ts';
import type { Probe } from './docker/discovery.ts';
import { createDockerEngine, greet } from './docker/docker-engine.ts';
import type { DockerEndpoint } from './docker/endpoint.ts';
import type { Engine } from './engine.ts';
import { engineErrors } from './errors.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Long, because an engine on a busy machine takes seconds to answer; one that is not there is known at once. */
const PROBE_MS = 30_000;

interface EngineSearch {
  readonly engine: Engine | undefined;
  readonly endpoint: DockerEndpoint | undefined;
  /** One line for each place an engine could be, for `doctor`. */
  readonly lines: readonly string[];
  readonly tried: readonly string[];
  /** Lines that speak of an engine that is there and does not answer. */
  readonly silent: readonly string[];
}

/** Looks for an engine, and tells where it has looked. */
export async function searchEngine(env: Environment): Promise<EngineSearch> {
  const home = env['HOME'] || homedir();
  const { endpoint, lines, tried, silent } = await discover({ env, home, platform: process.platform, read }, probe);
  return { engine: endpoint === undefined ? undefined : createDockerEngine(endpoint), endpoint, lines, tried, silent };
}

/** The engine to use; throws ENGINE_UNREACHABLE with every place that was tried and what it said. */
export async function findEngine(env: Environment): Promise<Engine> {
  const { engine, tried } = await searchEngine(env);
  if (engine === undefined) throw engineErrors.ENGINE_UNREACHABLE({ tried });
  return engine;
}

const read = (file: string): Promise<string | undefined> => readFile(file, 'utf8').catch(() => undefined);

const probe: Probe = async (endpoint) => {
  try {
    return { answers: true, engine: await greet(endpoint, { quickMs: PROBE_MS, slowMs: PROBE_MS }) };
  } catch (error) {
    const reason = hasCode(error, engineErrors.ENGINE_UNREACHABLE) ? error.facts.tried.join('; ') : reasonOf(error);
    const cause = error instanceof Error ? systemCode(error.cause) : undefined;
    return { answers: false, reason, absent: cause === 'ENOENT' || cause === 'ENOTDIR' };
  }
};
