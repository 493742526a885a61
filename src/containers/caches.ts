import { createHash } from 'node:crypto';
import type { Engine, Labels } from '../engines/index.ts';
import { INSIDE } from '../protocol/index.ts';
import { LABEL } from './owner.ts';

/** How each package manager is told where its downloads are. */
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

/** A volume that outlives its owners, and what finds it inside. */
export interface CacheVolume {
  readonly volume: string;
  readonly labels: Labels;
  readonly target: string;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * One volume for each repository and package manager: what one repository's tasks put there, no other one trusts. A volume
 * that a group shares differs from that of a single user, who has closed it to all others.
 */
export function cacheVolumes(repo: string, names: readonly CacheName[], group: number | null): CacheVolume[] {
  const id = createHash('sha256').update(repo).digest('hex').slice(0, 12);
  return names.map((name) => {
    const target = `${INSIDE.caches}/${name}`;
    const volume = `mahabharatha-cache-${id}-${name}${group === null ? '' : `-${group}`}`;
    return { volume, labels: { [LABEL.cache]: repo }, target, env: { [VARIABLES[name]]: target } };
  });
}

/** Names of the cache volumes of a repository, which no owner takes along. */
export async function cachesInEngine(engine: Engine, repo: string): Promise<string[]> {
  return (await engine.listVolumes({ [LABEL.cache]: repo })).map(({ name }) => name);
}
