import { readdirSync } from 'node:fs';
import path from 'node:path';
import { kill, sleep, systemClock } from '../lib/index.ts';
import { HANDOVER_MARK } from '../protocol/index.ts';
import { readSystemFile } from './system-file.ts';

/** The inits of engines: what they run as pid 1 reaps processes and does nothing else. */
const INITS = new Set(['docker-init', 'tini', 'catatonit', 'podman-init']);
/** The longest wait until what was killed is gone: a process may hang in the kernel. */
const LIMIT_MS = 5000;

interface AloneFacts {
  readonly platform: string;
  /** The mark that only the start of a locked-down container sets. */
  readonly marked: boolean;
  readonly uid: number | undefined;
  readonly parent: number;
  /** What pid 1 calls itself, and the program it was started from. */
  readonly init: readonly string[];
}

/**
 * Does this process share its container with nothing but an engine's init and what it has started itself? Anywhere else
 * killing everything would be a disaster, so each of the facts must hold.
 */
export function isAlone({ platform, marked, uid, parent, init }: AloneFacts): boolean {
  return (
    platform === 'linux' &&
    marked &&
    uid !== undefined &&
    uid > 0 &&
    parent === 1 &&
    init.length > 0 &&
    init.every((name) => INITS.has(name))
  );
}

/** Found once, at the very start: to a process that has lost its parent pid 1 would look like its parent. */
export const alone = isAlone({
  platform: process.platform,
  // oxlint-disable-next-line node/no-process-env -- the mark of this very process, read before it is removed
  marked: process.env[HANDOVER_MARK] !== undefined,
  uid: process.getuid?.(),
  parent: process.ppid,
  init: namesOfInit(),
});

/**
 * Kills everything in the container but the init and this process, in one system call: also what has left its session
 * and its environment, and what forks faster than a list of processes could be read. False when something was still there in the end.
 */
export async function endAllOthers(): Promise<boolean> {
  // Asked again here: of all that this program does, this is what must not happen by mistake.
  if (!alone || process.getuid?.() === 0 || process.pid === 1) return false;
  const limit = systemClock.monotonic() + LIMIT_MS;
  for (let round = 1; ; round++) {
    kill(-1, 'SIGKILL');
    // Zombies count too: until the init has reaped them they fill the table of processes.
    if (!readdirSync('/proc').some(isToBeAwaited)) return true;
    if (systemClock.monotonic() > limit) return false;
    await sleep(Math.min(50, round * 2));
  }
}

/** A process with more rights, which was started from outside (`docker exec`), cannot be signalled and is not awaited. */
function isToBeAwaited(entry: string): boolean {
  const pid = Number(entry);
  return Number.isInteger(pid) && pid > 1 && pid !== process.pid && kill(pid, 0);
}

function namesOfInit(): string[] {
  // Where the system does not tell, the empty names are those of no init.
  const [program = ''] = readSystemFile('/proc/1/cmdline').split('\0');
  return [readSystemFile('/proc/1/comm').trim(), path.basename(program)];
}
