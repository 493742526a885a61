import { painted, printable } from '../../lib/index.ts';
import type { Printable } from '../../lib/index.ts';

type Paint = (text: string | Printable) => Printable;

export interface Colors {
  readonly green: Paint;
  readonly red: Paint;
  readonly yellow: Paint;
  readonly dim: Paint;
  readonly bold: Paint;
}

export function colorsFor(wanted: boolean): Colors {
  const paint = (open: number, close: number): Paint =>
    wanted ? (text) => painted(text, open, close) : (text) => (typeof text === 'string' ? printable(text) : text);
  return { green: paint(32, 39), red: paint(31, 39), yellow: paint(33, 39), dim: paint(2, 22), bold: paint(1, 22) };
}
