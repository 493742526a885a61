import type { Config } from '../config/index.ts';
import type { EngineInfo } from '../engines/index.ts';
import { counted, inBytes } from '../lib/index.ts';

/** More than there is, and what to do about it. A run goes on: these are limits, and no reservations. */
export interface Shortage {
  readonly found: string;
  readonly remedy: string;
}

/** Pure. Where workers in containers may take more than their engine has. */
export function shortages(
  count: number,
  { memory, cpus: wanted }: Pick<Config['workers']['container'], 'memory' | 'cpus'>,
  { cpus, memoryBytes }: Pick<EngineInfo, 'cpus' | 'memoryBytes'>,
): Shortage[] {
  return [
    {
      isShort: count * memory > memoryBytes,
      found: `${counted(count, 'worker')} may use ${inBytes(memory)} of memory each, the engine has ${inBytes(memoryBytes)}`,
      remedy:
        'Lower workers.count or workers.container.memory, or give the engine more (Docker Desktop: Settings, Resources).',
    },
    {
      isShort: wanted > cpus,
      found: `a worker may use ${wanted} CPUs, the engine has ${cpus}`,
      remedy: 'Workers make do with what there is.',
    },
  ].filter(({ isShort }) => isShort);
}
