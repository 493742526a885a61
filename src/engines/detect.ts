import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { hasCode, reasonOf, systemCode } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import { discover } from './docker/discovery.ts';
import type { Discovery, Probe } from './docker/discovery.ts';
import { createDockerEngine, greet } from './docker/docker-engine.ts';
import type { Engine } from './engine.ts';
import { engineErrors } from './errors.ts';

/** Long, because an engine on a busy machine takes seconds to answer. A missing one is noticed at once. */
const PROBE_MS = 30_000;

/** Looks for an engine; the result says where, too. */
export async function searchEngine(env: Environment): Promise<Discovery & { readonly engine: Engine | undefined }> {
  const home = env['HOME'] || homedir();
  const discovery = await discover({ env, home, platform: process.platform, read }, probe);
  return { ...discovery, engine: discovery.endpoint && createDockerEngine(discovery.endpoint) };
}

/** The engine to use; throws ENGINE_UNREACHABLE with every place that was tried, and why it was not there. */
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
