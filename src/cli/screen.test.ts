import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { line } from '../lib/index.ts';
import { canDraw, createScreen } from './screen.ts';

const ENTER = '\u001B[?1049h\u001B[?25l\u001B[?7l';
/** A picture is shown at once, and not line by line. */
const frame = (lines: string): string => `\u001B[?2026h\u001B[H${lines}\u001B[H\u001B[?2026l`;
const LEAVE = '\u001B[?7h\u001B[?25h\u001B[?1049l';

/** A terminal that keeps what is written, and a process that keeps the signals which it sends itself. */
function fakes() {
  const written: string[] = [];
  const sent: string[] = [];
  const terminal = Object.assign(new EventEmitter(), {
    columns: 80,
    rows: 3,
    write: (text: string) => written.push(text) > 0,
  });
  const signals = Object.assign(new EventEmitter(), { pid: 7, kill: (_: number, name: string) => sent.push(name) > 0 });
  const screen = createScreen(terminal as never, signals as never);
  return { screen, terminal, signals, sent, taken: () => written.splice(0).join('') };
}

describe('a screen', () => {
  it('is another one than that of the shell, without a cursor, and both come back at the end', () => {
    const { screen, terminal, signals, taken } = fakes();
    screen.open(() => [line`one`, line`two`]);
    expect(taken()).toBe(`${ENTER}${frame('\u001B[Kone\r\n\u001B[Ktwo\r\n\u001B[K')}`);
    screen.close();
    expect(taken()).toBe(LEAVE);
    screen.close();
    screen.draw();
    expect(taken()).toBe('');
    expect([terminal.eventNames(), signals.eventNames()]).toEqual([[], []]);
  });

  it('never scrolls, however many lines the picture has', () => {
    const { screen, taken } = fakes();
    screen.open(() => ['a', 'b', 'c', 'd', 'e'].map((text) => line`${text}`));
    expect(taken()).toBe(`${ENTER}${frame('\u001B[Ka\r\n\u001B[Kb\r\n\u001B[Kc')}`);
  });

  it('is written to only when the picture has changed', () => {
    const { screen, taken } = fakes();
    let text = 'one';
    screen.open(() => [line`${text}`]);
    taken();
    screen.draw();
    expect(taken()).toBe('');
    text = 'two';
    screen.draw();
    expect(taken()).toContain('two');
  });

  it('is drawn for its new size when its window has another one', () => {
    const { screen, terminal, taken } = fakes();
    screen.open(({ columns, rows }) => [line`${columns} ${rows}`]);
    Object.assign(terminal, { columns: 200, rows: 60 });
    taken();
    terminal.emit('resize');
    expect(taken()).toContain('200 60');
    Object.assign(terminal, { columns: 0, rows: 0 });
    terminal.emit('resize');
    expect(taken()).toContain('80 24');
  });

  it('keeps what is printed until it is closed', () => {
    const { screen } = fakes();
    const printed: string[] = [];
    screen.whenClosed(() => printed.push('before'));
    screen.open(() => []);
    screen.whenClosed(() => printed.push('meanwhile'));
    expect([printed, screen.isOpen]).toEqual([['before'], true]);
    screen.close();
    screen.whenClosed(() => printed.push('after'));
    expect([printed, screen.isOpen]).toEqual([['before', 'meanwhile', 'after'], false]);
  });

  it('is given back on Ctrl-Z, and taken again on fg', () => {
    const { screen, signals, sent, taken } = fakes();
    screen.open(() => [line`one`]);
    taken();
    signals.emit('SIGTSTP');
    expect([taken(), sent]).toEqual([LEAVE, ['SIGSTOP']]);
    signals.emit('SIGCONT');
    expect(taken()).toBe(`${ENTER}${frame('\u001B[Kone\r\n\u001B[K\r\n\u001B[K')}`);
  });

  it.each([
    [80, 'xterm', true],
    [undefined, undefined, true],
    [0, 'xterm', false],
    [80, 'dumb', false],
  ])('can be on a terminal of %s columns and the kind %s: %s', (columns, TERM, possible) => {
    expect(canDraw({ columns } as never, { TERM })).toBe(possible);
  });
});
