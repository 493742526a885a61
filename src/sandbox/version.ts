import { captureOutput } from './capture.ts';
import type { Language } from './languages.ts';
import { newPlace, programOf } from './programs.ts';
import type { Sandbox } from './sandbox.ts';

const ASKED_MS = 20_000;
const UNKNOWN = '0.0.0';

/** What the interpreter of a language says of itself: "3.11.2". */
export async function versionOf(sandbox: Sandbox, { command, ...language }: Language): Promise<string> {
  const output = captureOutput(1000);
  const asked = { language: { ...language, command: [command[0] ?? '', '--version'] }, place: newPlace('') };
  const program = { ...asked, fork: null, args: [], stdin: null, memoryBytes: null, timeoutMs: ASKED_MS };
  await sandbox.run(programOf(sandbox, program), output.sink).end;
  const [found = UNKNOWN] = /\d+\.\d+(\.\d+)?/.exec(output.text('both').text) ?? [];
  return found.split('.').length === 2 ? `${found}.0` : found;
}
