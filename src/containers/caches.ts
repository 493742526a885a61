import type { Engine, Labels } from '../engines/index.ts';
import { digestOf } from '../lib/index.ts';
import { INSIDE } from '../protocol/index.ts';
import { LABEL } from './owner.ts';

/** The variable that names the folder of downloads for each package manager. */
const VARIABLES = {
  npm: 'npm_config_cache',
  yarn: 'YARN_CACHE_FOLDER',
  pnpm: 'npm_config_store_dir',
  pip: 'PIP_CACHE_DIR',
  uv: 'UV_CACHE_DIR',
  cargo: 'CARGO_HOME',
  go: 'GOMODCACHE',
} as const;

export type CacheName = keyof typeof VARIABLES;

/** A volume that outlives its owners, and the variable that names its place inside. */
export interface CacheVolume {
  readonly volume: string;
  readonly labels: Labels;
  readonly target: string;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * One volume for each repository and package manager: no repository trusts what tasks of another have put there. Files of
 * another user id could not be written.
 */
export function cacheVolumes(repo: string, names: readonly CacheName[], uid: number): CacheVolume[] {
  const id = digestOf(repo).slice(0, 12);
  return names.map((name) => {
    const target = `${INSIDE.caches}/${name}`;
    const volume = `mahabharatha-cache-${id}-${name}-${uid}`;
    return { volume, labels: { [LABEL.cache]: repo }, target, env: { [VARIABLES[name]]: target } };
  });
}

/** Names of the cache volumes of a repository. They stay when their owners go. */
export async function cachesInEngine(engine: Engine, repo: string): Promise<string[]> {
  return (await engine.listVolumes({ [LABEL.cache]: repo })).map(({ name }) => name);
}
