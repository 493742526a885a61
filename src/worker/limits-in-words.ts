import { inBytes } from '../lib/index.ts';
import type { Exceeded } from '../supervise/index.ts';

/** Pure. The limits of its container that a job has met, with their settings; undefined for none. */
export function limitsInWords(exceeded: readonly Exceeded[]): string | undefined {
  return exceeded.length === 0 ? undefined : exceeded.map(inWords).join('; ');
}

function inWords(met: Exceeded): string {
  switch (met.limit) {
    case 'memory':
      return `${met.certain ? 'a process was killed:' : 'it was killed: perhaps'} the worker's memory${of(met.bytes)} was used up`;
    case 'processes':
      return `processes could not be started: the worker's limit${met.most === undefined ? '' : ` of ${met.most}`} (workers.container.pids) was reached`;
    case 'file-size':
      return `a file was made larger than the worker's disk${of(met.bytes)} (workers.container.disk)`;
  }
}

const of = (bytes: number | undefined): string => (bytes === undefined ? '' : ` of ${inBytes(bytes)}`);
