import { readdirSync } from 'node:fs';
import path from 'node:path';
import { kill, readSystemFile, sleep, systemClock } from '../lib/index.ts';
import { HANDOVER_MARK } from '../protocol/index.ts';

/** The init programs of our image (docker/worker/init.sh) and of engines: as pid 1 they reap processes and do nothing else. */
const INITS = new Set(['worker-init', 'docker-init', 'tini', 'catatonit', 'podman-init']);
/** The longest wait until killed processes are gone: one may hang in the kernel. */
const LIMIT_MS = 5000;

interface AloneFacts {
  readonly platform: string;
  /** The mark that only the start of a locked-down container sets. */
  readonly marked: boolean;
  readonly uid: number | undefined;
  readonly parent: number;
  /** The names of pid 1: its own, and that of its program. */
  readonly init: readonly string[];
}

/**
 * Are the only other processes of the container the engine's init and those that this process has started? Elsewhere it
 * would be a disaster to kill all others, so each of the facts must hold.
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

/** Read at the start: for a process that has lost its parent, pid 1 would be its parent too. */
export const alone = isAlone({
  platform: process.platform,
  // oxlint-disable-next-line node/no-process-env -- this process's own mark, read before it is removed
  marked: process.env[HANDOVER_MARK] !== undefined,
  uid: process.getuid?.(),
  parent: process.ppid,
  init: namesOfInit(),
});

/** The same for a program that is root in its container, and only there. */
export function isAloneAsRoot(marked: boolean): boolean {
  const { platform, ppid } = process;
  return process.getuid?.() === 0 && isAlone({ platform, marked, uid: 1, parent: ppid, init: namesOfInit() });
}

/**
 * Kills all processes of the container except the init and this one, in one system call: also those that have changed
 * session and environment, or fork faster than a list of processes can be read. False when one was still there at the limit.
 */
export async function endAllOthers(): Promise<boolean> {
  // Checked again, because a mistake here would kill processes of others.
  if (!alone || process.getuid?.() === 0 || process.pid === 1) return false;
  const limit = systemClock.monotonic() + LIMIT_MS;
  for (let round = 1; ; round++) {
    kill(-1, 'SIGKILL');
    // Zombies count too: until the init has reaped them they use up the limit of processes.
    if (!readdirSync('/proc').some(isToBeAwaited)) return true;
    if (systemClock.monotonic() > limit) return false;
    await sleep(Math.min(50, round * 2));
  }
}

/** Not a process with more rights, as `docker exec` may start it: it cannot be signalled. */
function isToBeAwaited(entry: string): boolean {
  const pid = Number(entry);
  return Number.isInteger(pid) && pid > 1 && pid !== process.pid && kill(pid, 0);
}

function namesOfInit(): string[] {
  // Where the system has no such files, the names are empty and not those of an init.
  const [program = ''] = readSystemFile('/proc/1/cmdline').split('\0');
  return [readSystemFile('/proc/1/comm').trim(), path.basename(program)];
}
