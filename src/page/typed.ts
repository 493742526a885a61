import { visible } from './visible.ts';

/** The line after a key or a paste. Keys that move a cursor change nothing, since the line has none. Pasted lines stay apart. */
export function typed(line: string, data: string): string {
  if (data.startsWith('\u001B')) return line;
  return line + data.replaceAll(/\r\n?/g, '\n').replaceAll(/[^\P{Cc}\n]/gu, '');
}

/** In one line, whatever was pasted. */
export const shown = (line: string): string => visible(line.replaceAll('\n', ' ⏎ '));
