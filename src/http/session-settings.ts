import type { Config } from '../config/index.ts';
import { DEFAULT_RUNTIMES } from '../sandbox/index.ts';
import type { Runtime, Runtimes, SessionSettings } from '../sandbox/index.ts';

/** What programs in a session run as: no user of a usual system. */
const UID = 70_000;

export function sessionSettings(settings: Config['serve']): SessionSettings {
  const { limits } = settings;
  return {
    runtimes: runtimesOf(settings),
    limits: { cpus: limits.cpus, memoryBytes: limits.memory, diskBytes: limits.disk, processes: limits.processes },
    uid: UID,
    most: limits.sessions,
    ttlMs: limits.idle,
    warm: limits.warm,
    cacheBytes: limits.cache,
  };
}

type Wish = Config['serve']['runtimes'][string];

/** Pure. The default runtimes, and those of the configuration. */
export function runtimesOf({ runtimes }: Pick<Config['serve'], 'runtimes'>): Runtimes {
  const named = Object.entries(runtimes).map(([name, wish]) => [name, runtimeOf(wish, DEFAULT_RUNTIMES[name])]);
  return { ...DEFAULT_RUNTIMES, ...Object.fromEntries(named) };
}

/** What is known of a default runtime goes for its set-up and its command, also with another image. */
function runtimeOf(wish: Wish, known: Runtime | undefined): Runtime {
  const { image, setup = null, default_command: defaultCommand } = wish;
  return {
    image,
    setup,
    setupFiles: wish.setup_files ?? (setup === known?.setup ? known.setupFiles : []),
    defaultCommand,
    needs: wish.needs ?? (defaultCommand === known?.defaultCommand ? known.needs : null),
  };
}
