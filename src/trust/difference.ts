import type { SteeringFile, SteeringFiles } from './steering-files.ts';

/** A file whose content is not the approved one. */
export interface Difference {
  readonly file: string;
  /** What has happened to it, in words. */
  readonly what: string;
  /** Safe to show, each with "+", "-" or " " before it. */
  readonly lines: readonly string[];
}

const CONTEXT_LINES = 2;
/** When a comparison would take more steps, all lines count as changed. */
const MOST_STEPS = 4_000_000;
/** Invisible characters, and those that turn the direction of writing: they must not hide in what a person approves. */
const HIDDEN = /[^\P{C}\t]|[\p{Zl}\p{Zp}\u00AD\u115F\u1160\u3164\uFFA0]/gu;

/** Pure. All differences from what was approved, in the order of names. */
export function differences(approved: SteeringFiles, found: SteeringFiles): Difference[] {
  const names = [...new Set([...Object.keys(found), ...Object.keys(approved)])].toSorted();
  return names.flatMap((file) => {
    const [before, after] = [approved[file], found[file]];
    if (before?.digest === after?.digest && before?.executable === after?.executable) return [];
    const lines = compareLines(linesOf(before), linesOf(after));
    const what = `${inWords(before, after)} (${amountOf(lines)})`;
    return [{ file: visible(file), what, lines: [...notShown(after), ...shorten(lines)] }];
  });
}

function inWords(before: SteeringFile | undefined, after: SteeringFile | undefined): string {
  if (after === undefined) return 'is gone';
  const run = after.executable && before?.executable !== true ? ', and can be executed' : '';
  return `${before === undefined ? 'is new' : 'has changed'}${run}`;
}

/** The number of lines, so that a long difference is noticed. */
function amountOf(lines: readonly Line[]): string {
  const [added, removed] = ['+', '-'].map((sign) => lines.filter((line) => line.sign === sign).length);
  return `+${added} -${removed} lines`;
}

function notShown(after: SteeringFile | undefined): string[] {
  if (after === undefined || after.text !== null) return [];
  return [`  (${after.bytes} bytes that are no text, or too long to be shown; sha256 ${after.digest})`];
}

function linesOf(file: SteeringFile | undefined): string[] {
  const text = file?.text ?? '';
  return text === '' ? [] : text.replace(/\n$/, '').split('\n').map(visible);
}

/** Pure. Hidden characters become their numbers. */
function visible(text: string): string {
  return text.replaceAll(HIDDEN, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
  });
}

interface Line {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
}

function signed(sign: Line['sign'], texts: readonly string[]): Line[] {
  return texts.map((text) => ({ sign, text }));
}

/** Pure. The shortest difference; the search leaves out the equal lines at the beginning and the end. */
export function compareLines(before: readonly string[], after: readonly string[]): Line[] {
  const least = Math.min(before.length, after.length);
  let start = 0;
  while (start < least && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < least - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const middle = compareMiddle(before.slice(start, before.length - end), after.slice(start, after.length - end));
  return [...signed(' ', before.slice(0, start)), ...middle, ...signed(' ', before.slice(before.length - end))];
}

function compareMiddle(before: readonly string[], after: readonly string[]): Line[] {
  if (before.length * after.length > MOST_STEPS) return [...signed('-', before), ...signed('+', after)];
  const common = commonLengths(before, after);
  const lines: Line[] = [];
  let [row, column] = [0, 0];
  while (row < before.length && column < after.length) {
    const isSame = before[row] === after[column];
    const sign = isSame ? ' ' : betterStep(common, row, column);
    lines.push({ sign, text: (sign === '+' ? after[column] : before[row]) ?? '' });
    if (sign !== '+') row += 1;
    if (sign !== '-') column += 1;
  }
  return [...lines, ...signed('-', before.slice(row)), ...signed('+', after.slice(column))];
}

/** The step after which more lines are in common. */
function betterStep(common: readonly Uint16Array[], row: number, column: number): '-' | '+' {
  return (common[row + 1]?.[column] ?? 0) >= (common[row]?.[column + 1] ?? 0) ? '-' : '+';
}

/** By row and column: how many lines the rests of both have in common from there on. */
function commonLengths(before: readonly string[], after: readonly string[]): Uint16Array[] {
  const table = Array.from({ length: before.length + 1 }, () => new Uint16Array(after.length + 1));
  for (let row = before.length - 1; row >= 0; row -= 1) {
    const [here, below] = [table[row], table[row + 1]];
    if (here === undefined || below === undefined) continue;
    for (let column = after.length - 1; column >= 0; column -= 1) {
      const longer = Math.max(below[column] ?? 0, here[column + 1] ?? 0);
      here[column] = before[row] === after[column] ? (below[column + 1] ?? 0) + 1 : longer;
    }
  }
  return table;
}

/** The changed lines, with a few equal ones around them. */
function shorten(lines: readonly Line[]): string[] {
  const near = (index: number): boolean =>
    lines.slice(Math.max(0, index - CONTEXT_LINES), index + CONTEXT_LINES + 1).some(({ sign }) => sign !== ' ');
  if (lines.every(({ sign }) => sign === ' ')) return [];
  return lines.flatMap(({ sign, text }, index) => {
    if (near(index)) return [`${sign} ${text}`];
    return index === 0 || near(index - 1) ? ['  …'] : [];
  });
}
