import { isMap, isPair, isScalar, isSeq, parseDocument } from 'yaml';
import type { Node, Pair, YAMLMap } from 'yaml';
import { withoutComments } from '../lib/index.ts';
import { isYaml } from './graph-text.ts';

interface Splice {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/**
 * Gives tasks their levels in the text of a graph, and leaves all else as it is, comments and order included. Undefined
 * where a task is written in a way that has no place for a level of its own, say as an alias.
 */
export function withLevels(file: string, text: string, levels: ReadonlyMap<number, number>): string | undefined {
  // JSON is YAML, but for its comments.
  const plain = isYaml(file) ? text : withoutComments(text);
  const tasks = parseDocument(plain, { prettyErrors: false }).get('tasks', true);
  if (!isSeq(tasks)) return undefined;
  const splices: Splice[] = [];
  for (const [index, level] of levels) {
    const task = tasks.items[index];
    const splice = isMap(task) ? levelSplice(plain, task, level) : undefined;
    if (splice === undefined) return undefined;
    splices.push(splice);
  }
  const backwards = splices.toSorted((one, other) => other.from - one.from);
  return backwards.reduce((now, { from, to, text: put }) => now.slice(0, from) + put + now.slice(to), text);
}

function levelSplice(text: string, task: YAMLMap, level: number): Splice | undefined {
  const written = rangeOf(pairOf(task, 'level')?.value);
  // The empty value of YAML has no place between the colon and the end of the line.
  if (written !== undefined) return { ...written, text: `${written.from === written.to ? ' ' : ''}${level}` };
  const id = pairOf(task, 'id');
  const [key, value] = [rangeOf(id?.key), rangeOf(id?.value)];
  if (key === undefined || value === undefined) return undefined;
  const isJson = text[key.from] === '"';
  const pair = `${isJson ? '"level"' : 'level'}: ${level}`;
  const before = text.slice(text.lastIndexOf('\n', key.from - 1) + 1, key.from);
  if (task.flow !== true) return insertion(endOfLine(text, value.to), `\n${before.replaceAll(/\S/g, ' ')}${pair}`);
  if (before.trim() !== '') return insertion(value.to, `, ${pair}`);
  const end = endOfLine(text, value.to);
  const hasComma = /^\s*,\s*$/.test(text.slice(value.to, end));
  return hasComma ? insertion(end, `\n${before}${pair},`) : insertion(value.to, `,\n${before}${pair}`);
}

const insertion = (at: number, text: string): Splice => ({ from: at, to: at, text });

/** Behind a comment. */
function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}

function pairOf(map: YAMLMap, name: string): Pair | undefined {
  return map.items.find((item) => isPair(item) && isScalar(item.key) && item.key.value === name);
}

/** Where a node stands, without blanks and comments after it. */
function rangeOf(node: unknown): { readonly from: number; readonly to: number } | undefined {
  const range = (node as Partial<Node> | null | undefined)?.range;
  return range ? { from: range[0], to: range[1] } : undefined;
}
