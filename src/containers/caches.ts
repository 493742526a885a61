import { createHash } from 'node:crypto';
import { INSIDE } from '../protocol/index.ts';
import type { CacheVolume } from './settings.ts';

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

/**
 * One volume for each repository and package manager: what one repository's tasks put there no other one trusts. One that
 * workers share as a group is another one than that of a single user, who has closed it to all others.
 */
export function cacheVolumes(repo: string, names: readonly CacheName[], group: number | null): CacheVolume[] {
  const id = createHash('sha256').update(repo).digest('hex').slice(0, 12);
  return names.map((name) => {
    const target = `${INSIDE.caches}/${name}`;
    const volume = `mahabharatha-cache-${id}-${name}${group === null ? '' : `-${group}`}`;
    return { volume, target, env: { [VARIABLES[name]]: target } };
  });
}
