type Paint = (text: string) => string;

export interface Colors {
  readonly green: Paint;
  readonly red: Paint;
  readonly yellow: Paint;
  readonly dim: Paint;
  readonly bold: Paint;
}

export function colorsFor(wanted: boolean): Colors {
  const paint = (open: number, close: number): Paint =>
    wanted ? (text) => `\u001B[${open}m${text}\u001B[${close}m` : (text) => text;
  return { green: paint(32, 39), red: paint(31, 39), yellow: paint(33, 39), dim: paint(2, 22), bold: paint(1, 22) };
}
