import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { loadSettings } from '../config/index.ts';
import { hasCode, reasonOf, settingsHome, systemCode } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import { createAppleEngine } from './apple/apple-engine.ts';
import { findApple } from './apple/discovery.ts';
import { discover } from './docker/discovery.ts';
import type { Discovery, Probe } from './docker/discovery.ts';
import { createDockerEngine, greet } from './docker/docker-engine.ts';
import type { Engine } from './engine.ts';
import { engineErrors } from './errors.ts';

/** Long, because an engine on a busy machine takes seconds to answer. A missing one is noticed at once. */
const PROBE_MS = 30_000;

type Search = Discovery & { readonly engine: Engine | undefined };

/** What decides which engine is looked for first. */
type Machine = Pick<NodeJS.Process, 'platform' | 'arch'>;

/**
 * Looks for an engine; the result says where, too. The user's settings name one, or DOCKER_HOST does. Otherwise it is
 * Apple's on a Mac with Apple silicon that has it, and Docker's.
 */
export async function searchEngine(env: Environment, machine: Machine = process): Promise<Search> {
  const { engine: choice } = await loadSettings(path.join(settingsHome(env), 'settings.yaml'));
  if (choice === 'apple') return searchApple(env);
  const isMac = machine.platform === 'darwin' && machine.arch === 'arm64';
  if (choice === 'docker' || !isMac || hasChosenDocker(env)) return searchDocker(env);
  const apple = await searchApple(env);
  if (apple.engine !== undefined) return apple;
  const docker = await searchDocker(env);
  return {
    ...docker,
    lines: [...apple.lines, ...docker.lines],
    tried: [...apple.tried, ...docker.tried],
    silent: [...apple.silent, ...docker.silent],
  };
}

/** Not the current context: Docker Desktop sets it by itself. */
const hasChosenDocker = (env: Environment): boolean =>
  (env['DOCKER_HOST'] ?? '') !== '' || (env['DOCKER_CONTEXT'] ?? '') !== '';

/** The engine to use; throws ENGINE_UNREACHABLE with every place that was tried, and why it was not there. */
export async function findEngine(env: Environment): Promise<Engine> {
  const { engine, tried } = await searchEngine(env);
  if (engine === undefined) throw engineErrors.ENGINE_UNREACHABLE({ tried });
  return engine;
}

async function searchApple(env: Environment): Promise<Search> {
  const { program, line, isSilent } = await findApple(env);
  return {
    engine: program === undefined ? undefined : createAppleEngine(program, env),
    endpoint: undefined,
    lines: [line],
    tried: [line],
    silent: isSilent ? [line] : [],
  };
}

async function searchDocker(env: Environment): Promise<Search> {
  const home = env['HOME'] || homedir();
  const discovery = await discover({ env, home, platform: process.platform, read }, probe);
  return { ...discovery, engine: discovery.endpoint && createDockerEngine(discovery.endpoint) };
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
