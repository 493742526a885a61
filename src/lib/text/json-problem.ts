const BLANKS = /[ \t\n\r]*/y;
const STRING = /"(?:[ !#-[\]-\u{10FFFF}]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*"/uy;
const PLAIN = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[Ee][+-]?\d+)?|true|false|null)(?![\w.+-])/y;
const LONGEST = 40;
const WORD = /[\w.+-]{1,20}/y;

/** What may come next: a value, the name of an entry, the colon after it, or what follows a value. */
type Next = 'value' | 'name' | 'colon' | 'after';

interface Scan {
  readonly text: string;
  at: number;
  next: Next;
  /** The brackets that are open. */
  readonly open: ('[' | '{')[];
  /** The last bracket was just opened, and may close at once. */
  isEmpty: boolean;
}

/**
 * Pure. Where a text stops being JSON, and what must come there. Every version of Node says it in other words, and some without
 * a place. `reason` is used for what is not found here.
 */
export function jsonProblem(text: string, reason: string): string {
  const scan: Scan = { text, at: 0, next: 'value', open: [], isEmpty: false };
  for (;;) {
    skip(scan, BLANKS);
    if (scan.next === 'after' && scan.open.length === 0 && scan.at === text.length) return `it is not JSON: ${reason}`;
    if (!takeOne(scan))
      return `${placeIn(text, scan.at)}: it is not JSON: ${wanted(scan)} must come here, not ${found(scan)}`;
  }
}

function skip(scan: Scan, what: RegExp): boolean {
  what.lastIndex = scan.at;
  if (!what.test(scan.text)) return false;
  scan.at = what.lastIndex;
  return true;
}

function takeOne(scan: Scan): boolean {
  const char = scan.text[scan.at];
  const inside = scan.open.at(-1);
  const mayClose = scan.next === 'after' || scan.isEmpty;
  if (inside !== undefined && mayClose && char === closing(inside)) {
    scan.open.pop();
    return moved(scan, 'after');
  }
  switch (scan.next) {
    case 'after':
      return inside !== undefined && char === ',' && moved(scan, inside === '{' ? 'name' : 'value');
    case 'colon':
      return char === ':' && moved(scan, 'value');
    case 'name':
      return skip(scan, STRING) && stands(scan, 'colon');
    case 'value':
      return takeValue(scan, char);
  }
}

function takeValue(scan: Scan, char: string | undefined): boolean {
  if (char === '[' || char === '{') return opened(scan, char);
  return (skip(scan, STRING) || skip(scan, PLAIN)) && stands(scan, 'after');
}

function opened(scan: Scan, bracket: '[' | '{'): boolean {
  scan.open.push(bracket);
  moved(scan, bracket === '{' ? 'name' : 'value');
  scan.isEmpty = true;
  return true;
}

function moved(scan: Scan, next: Next): boolean {
  scan.at += 1;
  return stands(scan, next);
}

function stands(scan: Scan, next: Next): boolean {
  scan.next = next;
  scan.isEmpty = false;
  return true;
}

const closing = (bracket: '[' | '{'): string => (bracket === '{' ? '}' : ']');

function wanted({ next, open, isEmpty }: Scan): string {
  const inside = open.at(-1);
  if (next === 'colon') return '":"';
  if (next === 'after') return inside === undefined ? 'the end of the text' : `"," or "${closing(inside)}"`;
  const what = next === 'name' ? 'a name in double quotes' : 'a value';
  return isEmpty && inside !== undefined ? `${what} or "${closing(inside)}"` : what;
}

function found({ text, at }: Scan): string {
  const char = text[at];
  if (char === undefined) return 'the end of the text';
  STRING.lastIndex = at;
  const [string] = STRING.exec(text) ?? [];
  if (string !== undefined) return string.length > LONGEST ? `${string.slice(0, LONGEST)}…` : string;
  if (char === '"') return 'a text that does not end on its line, or has "\\" before a wrong character';
  WORD.lastIndex = at;
  return `"${WORD.exec(text)?.[0] ?? String.fromCodePoint(text.codePointAt(at) ?? 0)}"`;
}

function placeIn(text: string, offset: number): string {
  const lines = text.slice(0, offset).split('\n');
  return `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
}
