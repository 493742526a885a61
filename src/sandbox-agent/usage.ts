import { readSystemFile } from '../lib/index.ts';
import { readOomKills } from '../supervise/index.ts';
import { processesOf } from './as-user.ts';

/** Looks get rarer: short programs are seen, and long ones cost nothing. */
const FIRST_LOOK_MS = 2;
const RAREST_LOOK_MS = 250;

export interface Usage {
  readonly cpuMs: number;
  readonly peakBytes: number;
  readonly outOfMemory: boolean;
}

/**
 * Measures what the processes of a user take until `end` is called. The control group knows the exact time of all processes
 * together, which counts as long as no other user has had any.
 */
export function measureUser(
  uid: number,
  isAlone: () => boolean,
): { look(): void; end(known: Partial<Usage> | null): Usage } {
  const [kills, cpu] = [readOomKills().kills ?? 0, containerCpuMs()];
  const times = new Map<string, number>();
  let peakBytes = 0;
  let alone = isAlone();
  let wait = FIRST_LOOK_MS;
  let timer: NodeJS.Timeout;
  const look = (): void => {
    alone &&= isAlone();
    peakBytes = Math.max(peakBytes, examine(uid, times));
  };
  const again = (): void => {
    look();
    wait = Math.min(wait * 2, RAREST_LOOK_MS);
    timer = setTimeout(again, wait);
  };
  timer = setTimeout(again, wait);
  return {
    look,
    end: (known) => {
      clearTimeout(timer);
      const seen = [...times.values()].reduce((sum, each) => sum + each, 0) / 1e6;
      const cpuMs = alone && isAlone() ? Math.max(0, containerCpuMs() - cpu) : seen;
      const after = readOomKills();
      return {
        cpuMs: Math.max(cpuMs, known?.cpuMs ?? 0),
        // What processes share is seen in each of them.
        peakBytes: Math.min(Math.max(peakBytes, known?.peakBytes ?? 0), after.limitBytes ?? Number.MAX_VALUE),
        outOfMemory: (after.kills ?? 0) > kills,
      };
    },
  };
}

/** What all processes of the container but this one have used so far. */
function containerCpuMs(): number {
  const { user, system } = process.cpuUsage();
  const [, newer] = /^usage_usec (\d+)$/m.exec(readSystemFile('/sys/fs/cgroup/cpu.stat')) ?? [];
  const all =
    newer === undefined ? Number(readSystemFile('/sys/fs/cgroup/cpuacct/cpuacct.usage')) / 1e3 : Number(newer);
  return (all - user - system) / 1e3;
}

/** The memory that all processes of this user have now. Notes the time that each has used, in ns. */
function examine(uid: number, times: Map<string, number>): number {
  let bytes = 0;
  for (const { pid, status } of processesOf(uid)) {
    bytes += Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
    times.set(pid, Number(readSystemFile(`/proc/${pid}/schedstat`).split(' ')[0]) || 0);
  }
  return bytes;
}
