/** Most paths that one pattern may stand for. */
export const MOST_ALTERNATIVES = 256;

/**
 * Expands `{a,b}`, also nested, as a shell does: a pair of braces without a comma, or a brace without its partner, is
 * text. Returns undefined when there are too many alternatives.
 */
export function expandBraces(text: string): string[] | undefined {
  const done: string[] = [];
  const open = [text];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const group = firstGroup(next);
    if (group === undefined) done.push(next);
    else open.push(...alternatives(next, group).toReversed());
    // Each open text gives at least one result, so the limit is known to be exceeded early.
    if (done.length + open.length > MOST_ALTERNATIVES) return undefined;
  }
  return done;
}

interface Group {
  readonly start: number;
  readonly commas: number[];
  end: number;
}

/** The leftmost pair of braces with a comma of its own, which is not inside another one. */
function firstGroup(text: string): Group | undefined {
  const stack: Group[] = [];
  let first: Group | undefined;
  for (let index = 0; index < text.length; index++) {
    const char = text[index];
    if (char === '{') stack.push({ start: index, commas: [], end: -1 });
    else if (char === ',') stack.at(-1)?.commas.push(index);
    else if (char === '}') {
      const group = stack.pop();
      if (group === undefined || group.commas.length === 0) continue;
      group.end = index;
      if (first === undefined || group.start < first.start) first = group;
    }
  }
  return first;
}

function alternatives(text: string, group: Group): string[] {
  const before = text.slice(0, group.start);
  const after = text.slice(group.end + 1);
  const bounds = [group.start, ...group.commas, group.end];
  return bounds.slice(0, -1).map((bound, index) => before + text.slice(bound + 1, bounds[index + 1]) + after);
}
