import { line, printableJson, printableLines } from '../../lib/index.ts';
import type { Printable } from '../../lib/index.ts';
import { credentialsInWords } from '../../project/index.ts';
import type { CredentialsLine, ModeLine, RunFace } from '../../project/index.ts';
import type { CliContext } from '../command.ts';

/** Prints the mode of a run, once: a second call does nothing. */
export function modeTeller({ out }: Pick<CliContext, 'out'>, json: boolean): RunFace['mode'] {
  let told = false;
  return (mode, unprotected) => {
    if (told) return;
    told = true;
    out(json ? line`${printableJson(modeEvent(mode, unprotected))}\n` : modeText(mode, unprotected));
  };
}

function modeEvent({ name, wished, because }: ModeLine, unprotected: readonly string[]): object {
  return { at: new Date().toISOString(), type: 'mode', mode: name, wished, because, unprotected };
}

/** Pure. */
export function modeText({ name, wished, because }: ModeLine, unprotected: readonly string[]): Printable {
  const first = line`mode ${wished === 'auto' ? 'auto: ' : ''}${name}, because ${because}`;
  return printableLines([first, ...unprotected.map((text) => line`  ${text}`)]);
}

/** The way that the credentials of the agent go: the line below the mode. */
export function credentialsText(way: CredentialsLine, json: boolean): Printable {
  if (!json) return line`  credentials ${credentialsInWords(way)}\n`;
  return line`${printableJson({ at: new Date().toISOString(), type: 'credentials', ...way })}\n`;
}
