import { counted, inOneLine } from '../lib/text/words.ts';
import { KNOWN_KEYS } from './schema.ts';

/** One warning for each unknown key, which is often a misspelt one. */
export function unknownKeys(graph: unknown): string[] {
  const found = new Map<string, number>();
  note(found, '', graph, KNOWN_KEYS.graph);
  for (const task of tasksOf(graph)) {
    note(found, 'tasks[*].', task, KNOWN_KEYS.task);
    note(found, 'tasks[*].files.', valueOf(task, 'files'), KNOWN_KEYS.files);
    note(found, 'tasks[*].verification.', valueOf(task, 'verification'), KNOWN_KEYS.verification);
  }
  return [...found].map(([key, places]) => `${key}: unknown key, ignored (${counted(places, 'place')})`);
}

function note(found: Map<string, number>, prefix: string, value: unknown, known: ReadonlySet<string>): void {
  if (!isObject(value)) return;
  for (const key of Object.keys(value)) {
    if (known.has(key)) continue;
    const name = prefix + inOneLine(key);
    found.set(name, (found.get(name) ?? 0) + 1);
  }
}

function tasksOf(graph: unknown): readonly unknown[] {
  const tasks = valueOf(graph, 'tasks');
  return Array.isArray(tasks) ? tasks : [];
}

function valueOf(value: unknown, key: string): unknown {
  return isObject(value) ? value[key] : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
