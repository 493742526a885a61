import { parseConfig } from '../config/index.ts';
import type { Config } from '../config/index.ts';
import { listed } from '../lib/index.ts';
import type { ModeLine } from './decide-mode.ts';

/** Pure. What the configuration sets for containers, and a run without them does not obey. */
export function containerOnlyNotes({ workers }: Pick<Config, 'workers'>, { name }: Pick<ModeLine, 'name'>): string[] {
  if (name === 'container' || !workers.setsContainer) return [];
  const usual: Readonly<Record<string, unknown>> = parseConfig('', undefined).workers.container;
  const changed = Object.entries(workers.container).flatMap(([key, value]) =>
    JSON.stringify(value) === JSON.stringify(usual[key]) ? [] : [key],
  );
  const keys = changed.length === 0 ? '' : ` (${listed(changed)})`;
  return [
    `What workers.container sets${keys} holds in containers alone: these subprocesses have no limit of memory, CPUs, disk or network. Their limits are workers.task_timeout and workers.idle_timeout.`,
  ];
}
