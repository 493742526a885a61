import { eastAsianWidth } from 'get-east-asian-width';
import { joined, printable } from '../../lib/index.ts';
import type { Printable } from '../../lib/index.ts';
import type { Paint } from './colors.ts';

/** A part of a row, and how its letters look. */
export type Part = readonly [text: string | Printable, paint?: Paint | undefined];

const ASCII = /^[ -~]*$/;
/** Accents and the like stand on the letter before. */
const MARK = /^\p{M}$/u;

/** How many columns of a terminal a text takes; Chinese letters and most emoji take two each. */
export function columnsOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  let columns = 0;
  for (const char of text) columns += widthOf(char);
  return columns;
}

function widthOf(char: string): number {
  return MARK.test(char) ? 0 : eastAsianWidth(char.codePointAt(0) ?? 0);
}

/** The text in so many columns; one that was cut ends with "…". */
export function fit(text: string | Printable, most: number): string {
  // Measured as it is shown: a control character takes as many columns as its escape.
  const shown = printable(text.toString()).toString();
  if (columnsOf(shown) <= most) return shown;
  let [kept, columns] = ['', 0];
  for (const char of shown) {
    columns += widthOf(char);
    if (columns > most - 1) break;
    kept += char;
  }
  return most > 0 ? `${kept}…` : '';
}

/** As `fit`, and filled up with blanks. */
export function padTo(text: string, columns: number): string {
  const cut = fit(text, columns);
  return cut + ' '.repeat(columns - columnsOf(cut));
}

/** One row of a screen: what does not fit is cut off. */
export function rowOf(parts: readonly Part[], columns: number): Printable {
  let room = columns;
  const shown = parts.flatMap(([text, paint]) => {
    const cut = fit(text, room);
    room -= columnsOf(cut);
    if (cut === '') return [];
    return [paint === undefined ? printable(cut) : paint(cut)];
  });
  return joined(shown, '');
}
