import { painted, printable } from '../../lib/index.ts';
import type { Environment, Printable } from '../../lib/index.ts';

export type Paint = (text: string | Printable) => Printable;

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

/**
 * Whether output has colours, by the rules of Node and of no-color.org: FORCE_COLOR decides where it is set, then NO_COLOR,
 * and otherwise only a terminal gets them.
 */
export function wantsColor({ FORCE_COLOR, NO_COLOR = '', TERM }: Environment, isTerminal: boolean): boolean {
  if (FORCE_COLOR !== undefined) return ['', 'true', '1', '2', '3'].includes(FORCE_COLOR);
  return isTerminal && NO_COLOR === '' && TERM !== 'dumb';
}
