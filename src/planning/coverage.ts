import type { Requirement } from './requirements.ts';
import { parseDocument, textOf } from './sections.ts';

export interface Coverage {
  /** The tasks that name the requirement, by its id. */
  readonly covered: ReadonlyMap<string, readonly string[]>;
  /** Named as not covered in the design. */
  readonly leftOut: readonly string[];
  readonly missing: readonly string[];
}

/** Pure. Which requirements a task graph, as it stands in its file, covers. */
export function coverageOf(requirements: readonly Requirement[], graph: unknown, design: string): Coverage {
  const tasks = tasksIn(graph);
  const covered = new Map(
    requirements.map(({ id }) => [id, tasks.filter(({ words }) => names(words, id)).map((task) => task.id)] as const),
  );
  const section = parseDocument(design).sections.find(({ title }) => title.toLowerCase() === 'not covered');
  const reasons = section === undefined ? '' : textOf(section);
  const open = requirements.map(({ id }) => id).filter((id) => (covered.get(id) ?? []).length === 0);
  const leftOut = open.filter((id) => names(reasons, id));
  return { covered, leftOut, missing: open.filter((id) => !leftOut.includes(id)) };
}

function tasksIn(graph: unknown): { readonly id: string; readonly words: string }[] {
  const tasks = isRecord(graph) && Array.isArray(graph['tasks']) ? (graph['tasks'] as unknown[]) : [];
  return tasks.filter(isRecord).map((task) => ({ id: String(task['id']), words: wordsIn(task) }));
}

/** All texts in a value, as they are: in JSON, what begins a line comes after an "n". */
function wordsIn(value: unknown): string {
  const texts: string[] = [];
  JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner === 'string') texts.push(inner);
    return inner;
  });
  return texts.join('\n');
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** R-1 is not named by R-10. */
const names = (text: string, id: string): boolean =>
  new RegExp(`(?<![\\w-])${id.replaceAll(/[^\w-]/g, '')}(?![\\w-])`).test(text);
