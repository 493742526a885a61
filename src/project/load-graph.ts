import { readFile } from 'node:fs/promises';
import { libErrors, reasonOf, systemCode } from '../lib/index.ts';
import { taskErrors } from '../tasks/errors.ts';
import { parseGraph } from '../tasks/index.ts';
import type { TaskGraph } from '../tasks/index.ts';
import { checkFeatureName } from './project.ts';

export interface LoadedGraph {
  readonly text: string;
  readonly graph: TaskGraph;
  readonly warnings: readonly string[];
}

/** Reads and checks a task graph; throws with all its problems at once. */
export async function loadGraph(file: string): Promise<LoadedGraph> {
  const text = await readText(file);
  const value = parseJson(file, text);
  const parsed = parseGraph(value);
  if (!parsed.ok) throw taskErrors.GRAPH_INVALID({ file, problems: parsed.problems });
  checkFeatureName(parsed.graph.feature);
  return { text, graph: parsed.graph, warnings: parsed.warnings };
}

async function readText(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).replace(/^\uFEFF/, '');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') throw taskErrors.GRAPH_MISSING({ file });
    throw libErrors.FILE_UNREADABLE({ file, reason: reasonOf(error) }, { cause: error });
  }
}

function parseJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const problem = `it is not JSON: ${reasonOf(error)}${lineOf(reasonOf(error), text)}`;
    throw taskErrors.GRAPH_INVALID({ file, problems: [problem] }, { cause: error });
  }
}

/** Newer versions of Node name line and column themselves; older ones only a position. */
function lineOf(message: string, text: string): string {
  const position = /at position (\d+)(?!.*line)/.exec(message)?.[1];
  if (position === undefined) return '';
  const lines = text.slice(0, Number(position)).split('\n');
  return ` (line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1})`;
}
