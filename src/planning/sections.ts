/**
 * A document in Markdown: front matter, and sections below headings. Lines are counted from 1. Agents write such documents, so no
 * expression here may take long on a text that was made for that.
 */
export interface Document {
  readonly front: Readonly<Record<string, string>>;
  /** As they are written, with those that are not understood here. */
  readonly frontLines: readonly string[];
  /** All that comes after the front matter. */
  readonly body: string;
  readonly sections: readonly Section[];
}

export interface Section {
  readonly title: string;
  /** 2 for "##". */
  readonly depth: number;
  readonly line: number;
  readonly lines: readonly Line[];
}

export interface Line {
  readonly number: number;
  readonly text: string;
}

export interface Row {
  readonly line: number;
  /** By the heading of the column, in small letters. */
  readonly cells: Readonly<Record<string, string>>;
}

const FENCE = /^ {0,3}(```|~~~)/;
const HEADING = /^(#{1,6})\s+(.*)$/;

/** Pure. */
export function parseDocument(text: string): Document {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const end = lines[0] === '---' ? lines.indexOf('---', 1) : -1;
  const frontLines = lines.slice(1, Math.max(1, end));
  const front = frontLines.flatMap((line) => {
    const [, key, value = ''] = /^([a-z_]+):(.*)$/.exec(line) ?? [];
    return key === undefined ? [] : [[key, unquoted(value.trim())]];
  });
  const rest = lines.slice(end + 1);
  return {
    front: Object.fromEntries(front) as Record<string, string>,
    frontLines,
    body: rest.join('\n').replace(/^\n+/, ''),
    sections: sectionsOf(rest, end + 2),
  };
}

const unquoted = (value: string): string => value.replace(/^(["'])(.*)\1$/, '$2');

function sectionsOf(lines: readonly string[], first: number): Section[] {
  const sections: { title: string; depth: number; line: number; lines: Line[] }[] = [];
  let fence: string | undefined;
  for (const [index, text] of lines.entries()) {
    fence = fenceAfter(text, fence);
    const [, marks, title] = (fence === undefined && HEADING.exec(text)) || [];
    if (marks === undefined) sections.at(-1)?.lines.push({ number: first + index, text });
    else sections.push({ title: withoutMarks(title ?? ''), depth: marks.length, line: first + index, lines: [] });
  }
  return sections;
}

/** The mark of the block of code that is open after this line. */
function fenceAfter(text: string, open: string | undefined): string | undefined {
  const [, mark] = FENCE.exec(text) ?? [];
  if (mark === undefined) return open;
  return open === undefined ? mark : open === mark ? undefined : open;
}

/** Pure. A person's text as a part of a section: its headings begin no sections, and its last block of code ends. */
export function asPart(text: string): string {
  let fence: string | undefined;
  const lines = text.split(/\r?\n/).map((line) => {
    fence = fenceAfter(line, fence);
    return fence === undefined && HEADING.test(line) ? `\\${line}` : line;
  });
  return [...lines, ...(fence === undefined ? [] : [fence])].join('\n');
}

/** A heading may be closed with the marks that it begins with. */
function withoutMarks(title: string): string {
  let end = title.length;
  while (title[end - 1] === '#') end -= 1;
  return title.slice(0, end).trim();
}

/** Tables that are read have four. */
const MOST_COLUMNS = 20;

/** Pure. The rows of the first table of a section, without its heading. */
export function rowsOf({ lines }: Section): Row[] {
  const start = lines.findIndex(({ text }) => isRow(text));
  const table = lines.slice(start === -1 ? lines.length : start);
  const end = table.findIndex(({ text }) => !isRow(text));
  const [heading, rule, ...rows] = end === -1 ? table : table.slice(0, end);
  if (heading === undefined || rule === undefined) return [];
  const names = cellsOf(heading.text)
    .slice(0, MOST_COLUMNS)
    .map((name) => name.toLowerCase());
  return rows.map(({ number, text }) => {
    const cells = cellsOf(text);
    return { line: number, cells: Object.fromEntries(names.map((name, index) => [name, cells[index] ?? ''])) };
  });
}

const isRow = (text: string): boolean => text.trimStart().startsWith('|');

/** A bar that belongs to a cell is written as "\|". */
function cellsOf(text: string): string[] {
  const inner = text
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '');
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}

/** Pure. What a table can hold. */
export const asCell = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').trim();

/** Pure. The text of a section without comments and empty lines. */
export const textOf = ({ lines }: Section): string => withoutComments(lines.map(({ text }) => text).join('\n')).trim();

function withoutComments(text: string): string {
  const parts: string[] = [];
  let at = 0;
  for (;;) {
    const start = text.indexOf('<!--', at);
    const end = start === -1 ? -1 : text.indexOf('-->', start + 4);
    if (end === -1) return [...parts, text.slice(at)].join('');
    parts.push(text.slice(at, start));
    at = end + 3;
  }
}
