import { isMap, isPair, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import { withoutComments } from '../lib/index.ts';
import { isYaml } from './graph-text.ts';

/** The place at the beginning of a problem, say "tasks[1].files.create[0]: ". */
const PLACE = /^((?:^|\.)[\w$]+(?:\[\d+\])*)+(?=: )/;

/** Pure. Puts into each problem the line of its place in the text of the graph; what is missing is in the line of what lacks it. */
export function withLines(file: string, text: string, problems: readonly string[]): string[] {
  const lines = new LineCounter();
  // JSON is YAML, but for its comments.
  const plain = isYaml(file) ? text : withoutComments(text);
  const { contents } = parseDocument(plain, { lineCounter: lines, prettyErrors: false });
  return problems.map((problem) => {
    const [place = ''] = PLACE.exec(problem) ?? [];
    const at = place === '' ? undefined : beginOf(contents, place.match(/[\w$]+/g) ?? []);
    return at === undefined ? problem : `${place} (line ${lines.linePos(at).line})${problem.slice(place.length)}`;
  });
}

/** Where the last part of the path that is there begins. */
function beginOf(root: unknown, path: readonly string[]): number | undefined {
  let [node, begin]: [unknown, number | undefined] = [root, undefined];
  for (const part of path) {
    const pair = isMap(node)
      ? node.items.find((item) => isPair(item) && isScalar(item.key) && String(item.key.value) === part)
      : undefined;
    const item = isSeq(node) ? node.items[Number(part)] : pair?.value;
    const found = rangeBegin(isSeq(node) ? item : pair?.key);
    if (found === undefined) return begin;
    [node, begin] = [item, found];
  }
  return begin;
}

const rangeBegin = (node: unknown): number | undefined =>
  (node as { range?: readonly number[] } | null | undefined)?.range?.[0];
