import { realpath, stat } from 'node:fs/promises';
import { writeFileAtomic } from '../lib/index.ts';
import { taskErrors } from '../tasks/errors.ts';
import { mendGraph } from '../tasks/index.ts';
import type { Mend, Ownership } from '../tasks/index.ts';
import { withLevels } from './graph-edit.ts';
import { withLines } from './graph-lines.ts';
import { readGraphText } from './graph-text.ts';
import { readGraph } from './read-graph.ts';

/** Writes the levels that a graph needs into its file. Throws GRAPH_NOT_MENDED, and writes nothing, when more is wrong. */
export async function fixGraph(file: string, ownership: Ownership): Promise<readonly Mend[]> {
  const { text, value } = await readGraph(file);
  if (!(await stat(file)).isFile())
    throw taskErrors.GRAPH_NOT_MENDED({ file, problems: ['it is no file that could be changed'] });
  const { mends, problems } = mendGraph(value, ownership);
  if (problems.length > 0) throw taskErrors.GRAPH_NOT_MENDED({ file, problems: withLines(file, text, problems) });
  if (mends.length === 0) return mends;
  const after = withLevels(file, text, new Map(mends.map(({ task, to }) => [task, to])));
  if (after === undefined || !isMended(file, after, ownership)) {
    const byHand = mends.map(
      ({ task, to }) => `tasks[${task}].level: write ${to}; there is no place for it that is safe`,
    );
    throw taskErrors.GRAPH_NOT_MENDED({ file, problems: byHand });
  }
  const target = await realpath(file);
  await writeFileAtomic(target, after, { durable: true, mode: (await stat(target)).mode & 0o777 });
  return mends;
}

function isMended(file: string, text: string, ownership: Ownership): boolean {
  const read = readGraphText(file, text);
  if (!read.ok) return false;
  const { mends, problems } = mendGraph(read.value, ownership);
  return mends.length === 0 && problems.length === 0;
}
