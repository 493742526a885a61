import { asCommand } from '../lib/index.ts';
import { isPlanningName } from './planning-name.ts';
import type { RunRequest } from './run-request.ts';

/** Pure. What a person types for this run; null for that of an agent that plans. */
export function runCommand({
  graph: { feature },
  wishes: { graphFile, resume },
}: {
  readonly graph: Pick<RunRequest['graph'], 'feature'>;
  readonly wishes: Pick<RunRequest['wishes'], 'graphFile' | 'resume'>;
}): string | null {
  if (isPlanningName(feature)) return null;
  const which = graphFile === undefined ? ['--feature', feature] : ['--task-graph', graphFile];
  return asCommand(['mahabharatha', 'kurukshetra', ...which, ...(resume === true ? ['--resume'] : [])]);
}
