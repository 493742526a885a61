import { readdirSync } from 'node:fs';
import { readOomKills, readSystemFile } from '../supervise/index.ts';

/** Looks get rarer: short programs are seen, and long ones cost nothing. */
const FIRST_LOOK_MS = 1;
const RAREST_LOOK_MS = 250;

export interface Usage {
  readonly cpuMs: number;
  readonly peakBytes: number;
  readonly outOfMemory: boolean;
}

/** Measures what the processes of a user take until `end` is called. */
export function measureUser(uid: number): { look(): void; end(): Usage } {
  const [kills, cpu] = [readOomKills().kills ?? 0, containerCpuMs()];
  let peakBytes = 0;
  let wait = FIRST_LOOK_MS;
  let timer: NodeJS.Timeout;
  const look = (): void => {
    peakBytes = Math.max(peakBytes, memoryOf(uid));
  };
  const again = (): void => {
    look();
    wait = Math.min(wait * 2, RAREST_LOOK_MS);
    timer = setTimeout(again, wait);
  };
  timer = setTimeout(again, wait);
  return {
    look,
    end: () => {
      clearTimeout(timer);
      const cpuMs = Math.max(0, containerCpuMs() - cpu);
      return { cpuMs, peakBytes, outOfMemory: (readOomKills().kills ?? 0) > kills };
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

/** The memory that all processes of this user have now. */
function memoryOf(uid: number): number {
  let bytes = 0;
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    const status = readSystemFile(`/proc/${pid}/status`);
    if (/^Uid:\t(\d+)/m.exec(status)?.[1] !== String(uid)) continue;
    bytes += Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
  }
  return bytes;
}
