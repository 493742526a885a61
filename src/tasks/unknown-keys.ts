import { clip, counted, inOneLine, listed } from '../lib/text/words.ts';
import { meantBy } from './misnamed-keys.ts';
import type { Place } from './misnamed-keys.ts';
import { KNOWN_KEYS } from './schema.ts';
import { place } from './words.ts';

interface UnknownKey {
  /** Where it stands first. */
  readonly at: string;
  readonly key: string;
  readonly where: Place;
  places: number;
}

interface UnknownKeys {
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

const PATTERNS: Readonly<Record<Place, string>> = {
  graph: '',
  task: 'tasks[*].',
  files: 'tasks[*].files.',
  verification: 'tasks[*].verification.',
};

/** A key that is nearly known is misspelt, and one below `files` is a claim that would not count; any other is ignored. */
export function unknownKeys(graph: unknown): UnknownKeys {
  const found = new Map<string, UnknownKey>();
  look(found, graph, 'graph', []);
  for (const [index, task] of tasksOf(graph).entries()) {
    look(found, task, 'task', ['tasks', index]);
    look(found, valueOf(task, 'files'), 'files', ['tasks', index, 'files']);
    look(found, valueOf(task, 'verification'), 'verification', ['tasks', index, 'verification']);
  }
  const judged = [...found.values()].map((each) => ({ ...each, problem: problemOf(each) }));
  return {
    problems: judged.flatMap(({ problem }) => problem ?? []),
    warnings: judged
      .filter(({ problem }) => problem === undefined)
      .map(({ key, where, places }) => `${PATTERNS[where]}${key}: unknown key, ignored (${counted(places, 'place')})`),
  };
}

function look(found: Map<string, UnknownKey>, value: unknown, where: Place, path: readonly PropertyKey[]): void {
  if (!isObject(value)) return;
  for (const key of Object.keys(value)) {
    if (KNOWN_KEYS[where].all.has(key)) continue;
    const name = PATTERNS[where] + key;
    const shown = clip(inOneLine(key), 100);
    const known = found.get(name) ?? { at: place([...path, shown]), key: shown, where, places: 0 };
    known.places += 1;
    found.set(name, known);
  }
}

function problemOf({ at, key, where, places }: UnknownKey): string | undefined {
  const known = KNOWN_KEYS[where];
  const meant = meantBy(key, where, known);
  if (meant === undefined && where !== 'files') return undefined;
  const keys = listed([...known.all].map((name) => `"${name}"`));
  const hint = meant === undefined ? `"files" has ${keys}` : `did you mean "${meant}"?`;
  return `${at}: there is no such key${places === 1 ? '' : `, here and in ${counted(places - 1, 'other place')}`}; ${hint}`;
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
