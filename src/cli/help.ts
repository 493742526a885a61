import { Help } from 'commander';
import type { CommandDefinition } from './command.ts';

/** Lines longer than this are hard to read. */
const WIDEST = 120;

/** How wide help is on a terminal of so many columns; undefined where there is none. */
export const helpWidth = (columns: number | undefined): number => Math.min(columns || 80, WIDEST);

/** Pure: what stands below the options of a command. */
export function helpBelow({ examples, details = [] }: CommandDefinition, width: number): string {
  const paragraphs = details.map((text) => `\n${new Help().boxWrap(text.replaceAll(/\s*\n\s*/g, ' '), width)}\n`);
  return `${paragraphs.join('')}\nExamples:\n${exampleLines(examples, width).join('\n')}\n`;
}

/** Meanings beside the commands where all of them fit, else each below its command. */
function exampleLines(examples: CommandDefinition['examples'], width: number): string[] {
  const widest = Math.max(...examples.map(([command]) => command.length));
  const beside = examples.map(([command, meaning]) => `  $ ${command.padEnd(widest)}   ${meaning}`.trimEnd());
  if (beside.every((line) => line.length <= width && !line.includes('\n'))) return beside;
  return examples.flatMap(([command, meaning]) => [`  $ ${command}`, ...(meaning === '' ? [] : [`      ${meaning}`])]);
}
