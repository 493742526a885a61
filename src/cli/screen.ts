import { ENTER_SCREEN, LEAVE_SCREEN, line, overwriting } from '../lib/index.ts';
import type { Environment, Printable } from '../lib/index.ts';

/** How many columns and rows a terminal has. */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** What is to be on the screen: at most as many lines as it has rows, none wider than it. */
type Picture = (size: Size) => readonly Printable[];

/** The whole terminal for a picture that changes in place. Nothing scrolls, and what was on it comes back at the end. */
export interface Screen {
  readonly isOpen: boolean;
  size(): Size;
  open(picture: Picture): void;
  /** Shows the picture as it is now. */
  draw(): void;
  /** Gives the terminal back; does nothing when it is closed. */
  close(): void;
  /** At once, or as soon as the screen is closed: what is printed would be in the way of the picture. */
  whenClosed(print: () => void): void;
}

type Terminal = Pick<NodeJS.WriteStream, 'columns' | 'rows' | 'write' | 'on' | 'off'>;
type Signals = Pick<NodeJS.Process, 'on' | 'off' | 'kill' | 'pid'>;

/** Whether a terminal can show pictures; some of CI say that they have no columns. */
export function canDraw({ columns }: Pick<Terminal, 'columns'>, { TERM }: Environment): boolean {
  return columns !== 0 && TERM !== 'dumb';
}

/** Terminals that do not know their size have the usual one. */
const sizeOf = ({ columns, rows }: Terminal): Size => ({ columns: columns || 80, rows: rows || 24 });

export function createScreen(terminal: Terminal, signals: Signals = process): Screen {
  let picture: Picture | undefined;
  let waiting: (() => void)[] = [];
  const { draw, drawAll, enter, leave } = createFrames(terminal, () => picture);
  /** Ctrl-Z: the shell gets its terminal as it was, and this process stands still until `fg`. */
  const suspend = (): void => {
    leave();
    signals.kill(signals.pid, 'SIGSTOP');
  };
  return {
    get isOpen() {
      return picture !== undefined;
    },
    size: () => sizeOf(terminal),
    open: (given) => {
      picture = given;
      terminal.on('resize', drawAll);
      signals.on('SIGTSTP', suspend);
      signals.on('SIGCONT', enter);
      enter();
    },
    draw,
    close: () => {
      if (picture === undefined) return;
      picture = undefined;
      terminal.off('resize', drawAll);
      signals.off('SIGTSTP', suspend);
      signals.off('SIGCONT', enter);
      leave();
      for (const print of waiting) print();
      waiting = [];
    },
    whenClosed: (print) => {
      if (picture === undefined) print();
      else waiting.push(print);
    },
  };
}

function createFrames(terminal: Terminal, picture: () => Picture | undefined) {
  let shown = '';
  const draw = (): void => {
    const size = sizeOf(terminal);
    const lines = picture()?.(size);
    if (lines === undefined) return;
    // Exactly as many as the screen has: more would scroll, and of fewer the rest of the last picture would stay.
    const frame = overwriting(Array.from({ length: size.rows }, (_, row) => lines[row] ?? line``)).toString();
    if (frame !== shown) terminal.write(frame);
    shown = frame;
  };
  /** Also what has not changed: the terminal may have lost it. */
  const drawAll = (): void => {
    shown = '';
    draw();
  };
  return {
    draw,
    drawAll,
    enter: (): void => {
      terminal.write(ENTER_SCREEN.toString());
      drawAll();
    },
    leave: (): void => void terminal.write(LEAVE_SCREEN.toString()),
  };
}
