import { DEFAULT_RUNTIMES } from '../config/index.ts';
import type { Config } from '../config/index.ts';
import type { Runtime, Runtimes, SessionSettings } from '../sandbox/index.ts';

export function sessionSettings(settings: Config['serve']): SessionSettings {
  const { limits } = settings;
  return {
    runtimes: runtimesOf(settings),
    limits: { cpus: limits.cpus, memoryBytes: limits.memory, diskBytes: limits.disk, processes: limits.processes },
    most: limits.sessions,
    ttlMs: limits.idle,
    warm: limits.warm,
    cacheBytes: limits.cache,
  };
}

/** Pure. The default runtimes, and those of the configuration. */
export function runtimesOf({ runtimes }: Pick<Config['serve'], 'runtimes'>): Runtimes {
  const all = Object.entries<Wish>({ ...DEFAULT_RUNTIMES, ...runtimes });
  return Object.fromEntries(all.map(([name, wish]) => [name, runtimeOf(wish)]));
}

type Wish = Config['serve']['runtimes'][string];

const runtimeOf = ({ image, setup, setup_files: files, default_command: defaultCommand, needs }: Wish): Runtime => ({
  image,
  setup: setup ?? null,
  setupFiles: files ?? [],
  defaultCommand,
  needs: needs ?? null,
});
