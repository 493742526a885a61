import { stringify } from 'yaml';
import { readYaml } from '../config/index.ts';
import { jsonProblem, reasonOf, withoutComments } from '../lib/index.ts';

/** The names of a task graph in the folder of its feature. */
export const GRAPH_NAMES = ['task-graph.json', 'task-graph.yaml', 'task-graph.yml'] as const;

type GraphText =
  | { readonly ok: true; readonly value: unknown; /** As plain JSON. */ readonly json: string }
  | { readonly ok: false; readonly problems: readonly string[]; readonly cause?: unknown };

/** Characters. Expressions run out of stack on a text in it of 8 million, and 10,000 tasks take a third of this. */
const LONGEST = 6_000_000;

export const isYaml = (file: string): boolean => /\.ya?ml$/.test(file);

/** Pure. Reads YAML, or JSON with comments and trailing commas, as the name of the file says. */
export function readGraphText(file: string, text: string): GraphText {
  if (text.trim() === '') return { ok: false, problems: ['it is empty; write a graph, say as mahabharatha init does'] };
  if (text.length > LONGEST) return { ok: false, problems: [tooLong(text)] };
  if (isYaml(file)) {
    const read = readYaml(text);
    return read.ok ? { ...read, json: inJson(read.value) } : read;
  }
  const plain = withoutComments(text);
  try {
    const value = JSON.parse(plain) as unknown;
    if (isDeep(value)) return { ok: false, problems: [`it is nested more than ${DEEPEST} levels deep`] };
    const problems = keysTwice(plain);
    if (problems.length > 0) return { ok: false, problems };
    return { ok: true, value, json: plain === text ? text : inJson(value) };
  } catch (error) {
    return { ok: false, problems: [jsonProblem(plain, reasonOf(error))], cause: error };
  }
}

const tooLong = ({ length }: string): string =>
  `it has ${length.toLocaleString('en-US')} characters, and may have ${LONGEST.toLocaleString('en-US')}: make several features of it`;

/** Pure. A value as the text of this file. */
export function graphTextFor(file: string, value: unknown): string {
  return isYaml(file) ? stringify(value) : inJson(value);
}

/** An agent may write the same key half a million times. */
const ENOUGH = 20;

/** Of two with one name JSON takes the last, and tasks would be lost without a word. The text is valid. */
function keysTwice(text: string): string[] {
  const open: Set<string>[] = [];
  const problems: string[] = [];
  let line = 1;
  for (const { 0: part, 1: key } of text.matchAll(/("(?:[^"\\]|\\.)*")\s*:|"(?:[^"\\]|\\.)*"|[{}\n]/g)) {
    if (part === '{') open.push(new Set());
    if (part === '}') open.pop();
    if (key !== undefined && open.at(-1)?.has(key))
      problems.push(`line ${line}: ${key} is there already in the same object; remove one of them`);
    if (key !== undefined) open.at(-1)?.add(key);
    if (problems.length === ENOUGH) break;
    line += part.split('\n').length - 1;
  }
  return problems;
}

const inJson = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;

/** Deep enough for any graph; what goes through all of a value calls itself once for each level. */
const DEEPEST = 100;

function isDeep(value: unknown): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; depth <= DEEPEST && level.length > 0; depth += 1)
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
  return level.length > 0;
}
