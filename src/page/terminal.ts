import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';
import { openSocket } from './ask.ts';
import { shown, typed } from './typed.ts';
import { visible } from './visible.ts';

const PROMPT = '\u001B[94m$\u001B[0m ';
const CLEAR = '\r\u001B[K';
const [ENTER, BACK, CTRL_C, UP, DOWN] = ['\r', '\u007F', '\u0003', '\u001B[A', '\u001B[B'];

interface Message {
  readonly type: string;
  readonly data?: string;
  readonly detail?: string;
  readonly exit_code?: number;
  readonly cwd?: string;
}

export interface SessionTerminal {
  close(): void;
}

/** A line at a time goes to the session; what comes back is text. */
export function openTerminal(place: HTMLElement, session: string, onState: (text: string) => void): SessionTerminal {
  const terminal = new Terminal({ convertEol: true, fontSize: 13, rows: 18, theme: { background: '#16181d' } });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  terminal.open(place);
  fit.fit();
  const socket = openSocket(session);
  const lines = lineReader(terminal, {
    run: (command) => socket.send(JSON.stringify({ command })),
    kill: () => socket.send(JSON.stringify({ type: 'kill' })),
  });
  socket.addEventListener('open', () => {
    onState('open');
    lines.ask();
  });
  socket.addEventListener('message', ({ data }: MessageEvent<string>) => tell(JSON.parse(data) as Message));
  let isClosed = false;
  socket.addEventListener('close', ({ reason }) => {
    if (isClosed) return;
    onState(`closed ${reason}`);
    terminal.write(`\r\n\u001B[93m[closed]\u001B[0m\r\n`);
  });
  const tell = ({ type, data = '', detail = '', exit_code: exit = 0, cwd = '' }: Message): void => {
    if (type === 'stdout') terminal.write(visible(data));
    if (type === 'stderr') terminal.write(`\u001B[91m${visible(data)}\u001B[0m`);
    if (type === 'error') terminal.write(`\u001B[93m${visible(detail)}\u001B[0m\n`);
    if (type === 'exit') onState(`${visible(cwd)}, exit ${exit}`);
    if (type === 'exit' || type === 'error') lines.ask();
  };
  return {
    close: () => {
      isClosed = true;
      socket.close();
      terminal.dispose();
    },
  };
}

interface Commands {
  run(command: string): void;
  kill(): void;
}

function withoutLast(text: string): string {
  const signs = Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);
  return signs.slice(0, -1).join('');
}

/** Lines that are typed, with those before them. */
function lineReader(terminal: Terminal, { run, kill }: Commands): { ask(): void } {
  const before: string[] = [];
  let [text, place, isAsking] = ['', 0, false];
  const show = (): void => terminal.write(`${CLEAR}${PROMPT}${shown(text)}`);
  const enter = (): void => {
    terminal.write('\r\n');
    if (text.trim() === '') return show();
    isAsking = false;
    place = before.push(text);
    run(text);
    text = '';
  };
  const recall = (step: number): void => {
    place = Math.max(0, Math.min(before.length, place + step));
    text = before[place] ?? '';
    show();
  };
  const type = (data: string): void => {
    if (data === CTRL_C) text = '';
    else text = data === BACK ? withoutLast(text) : typed(text, data);
    show();
  };
  terminal.onData((data) => {
    if (data === CTRL_C && !isAsking) return kill();
    if (!isAsking) return;
    if (data === ENTER) enter();
    else if (data === UP || data === DOWN) recall(data === UP ? -1 : 1);
    else type(data);
  });
  return {
    ask: () => {
      isAsking = true;
      // What a program has left of a line stays.
      terminal.write('', () => {
        if (terminal.buffer.active.cursorX > 0) terminal.write('\r\n');
        show();
      });
      terminal.focus();
    },
  };
}
