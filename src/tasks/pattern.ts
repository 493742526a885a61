import { sequence, sequencesMeet } from './wildcard.ts';
import type { Alphabet, Sequence } from './wildcard.ts';

/** A path or a glob without braces, ready to be compared. */
export interface Pattern {
  readonly segments: Sequence<Segment>;
  /** The names before the first one with a wildcard: all of them when `literal`. */
  readonly head: readonly string[];
  readonly literal: boolean;
}

interface Segment {
  readonly name: string;
  readonly glyphs: Sequence<Glyph>;
  readonly literal: boolean;
}

/** One item of a name: this character, any, one of a class; or `*`, the gap. */
type Glyph = string | CharacterClass | typeof ANY_CHARACTER | typeof ANY_CHARACTERS;

interface CharacterClass {
  readonly kind: 'class';
  readonly negated: boolean;
  readonly ranges: readonly { readonly from: number; readonly to: number }[];
}

const ANY_CHARACTER = { kind: 'any' } as const;
const ANY_CHARACTERS = { kind: 'gap' } as const;
const ANY_SEGMENTS: Segment = { name: '**', glyphs: sequence<Glyph>([], ANY_CHARACTERS), literal: false };

const characters: Alphabet<Glyph> = { gap: ANY_CHARACTERS, meet: glyphsMeet };
const names: Alphabet<Segment> = { gap: ANY_SEGMENTS, meet: segmentsMeet };

/** Reads the names of a path; a final `**` is everything below the folder, but not the folder itself. */
export function parsePattern(path: readonly string[]): Pattern {
  const segments: Segment[] = [];
  for (const name of path) {
    if (name !== '**') segments.push(parseSegment(name));
    else if (segments.at(-1) !== ANY_SEGMENTS) segments.push(ANY_SEGMENTS);
  }
  if (segments.at(-1) === ANY_SEGMENTS) segments.push(parseSegment('*'));
  const wild = segments.findIndex((segment) => !segment.literal);
  const head = segments.slice(0, wild === -1 ? undefined : wild).map((segment) => segment.name);
  return { segments: sequence(segments, ANY_SEGMENTS), head, literal: wild === -1 };
}

/** Whether the pattern means this path, in which no character is a wildcard. */
export function matches(pattern: Pattern, path: string): boolean {
  const segments = path.split('/').map(literalSegment);
  return sequencesMeet(pattern.segments, sequence(segments, ANY_SEGMENTS), names);
}

/** Whether both may mean the same path. Exact except for two character classes, which always count as overlapping. */
export function overlaps(a: Pattern, b: Pattern): boolean {
  return sequencesMeet(a.segments, b.segments, names);
}

function segmentsMeet(a: Segment, b: Segment): boolean {
  return a.literal && b.literal ? a.name === b.name : sequencesMeet(a.glyphs, b.glyphs, characters);
}

function glyphsMeet(a: Glyph, b: Glyph): boolean {
  if (typeof a === 'string') return typeof b === 'string' ? a === b : accepts(b, a);
  return typeof b === 'string' ? accepts(a, b) : true;
}

function accepts(glyph: Exclude<Glyph, string>, character: string): boolean {
  if (glyph.kind !== 'class') return true;
  const code = codeOf(character);
  return glyph.ranges.some(({ from, to }) => from <= code && code <= to) !== glyph.negated;
}

function literalSegment(name: string): Segment {
  return { name, glyphs: sequence<Glyph>(Array.from(name), ANY_CHARACTERS), literal: true };
}

function parseSegment(name: string): Segment {
  const text = Array.from(name);
  const glyphs: Glyph[] = [];
  for (let index = 0; index < text.length; index++) {
    const character = text[index] ?? '';
    const end = character === '[' ? endOfClass(text, index) : -1;
    if (end !== -1) {
      glyphs.push(parseClass(text.slice(index + 1, end)));
      index = end;
    } else if (character === '?') glyphs.push(ANY_CHARACTER);
    else if (character !== '*') glyphs.push(character);
    else if (glyphs.at(-1) !== ANY_CHARACTERS) glyphs.push(ANY_CHARACTERS);
  }
  const literal = glyphs.every((glyph) => typeof glyph === 'string');
  return { name, glyphs: sequence(glyphs, ANY_CHARACTERS), literal };
}

/** A leading `]` is a member; a `[` without its `]` is text. */
function endOfClass(text: readonly string[], start: number): number {
  const first = isNegation(text[start + 1]) ? start + 2 : start + 1;
  return text.indexOf(']', first + 1);
}

function parseClass(text: readonly string[]): CharacterClass {
  const negated = isNegation(text[0]);
  const members = negated ? text.slice(1) : text;
  const ranges = [];
  for (let index = 0; index < members.length; index++) {
    const from = codeOf(members[index]);
    const isRange = members[index + 1] === '-' && index + 2 < members.length;
    if (isRange) index += 2;
    ranges.push({ from, to: codeOf(members[index]) });
  }
  return { kind: 'class', negated, ranges };
}

function isNegation(character: string | undefined): boolean {
  return character === '!' || character === '^';
}

function codeOf(character: string | undefined): number {
  return character?.codePointAt(0) ?? -1;
}
