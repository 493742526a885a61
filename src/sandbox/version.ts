import { captureOutput } from './capture.ts';
import type { Language } from './languages.ts';
import { makeHome, newPlace, programOf } from './programs.ts';
import type { Sandbox } from './sandbox.ts';

const ASKED_MS = 20_000;
export const UNKNOWN_VERSION = '0.0.0';

/** What the interpreter of a language says of itself: "3.11.2". Undefined when it did not come to its end. */
export async function versionOf(sandbox: Sandbox, { command, ...language }: Language): Promise<string | undefined> {
  const output = captureOutput(1000);
  const place = newPlace(sandbox, '');
  await makeHome(sandbox, place);
  const asked = { language: { ...language, command: [command[0] ?? '', '--version'] }, place };
  const program = { ...asked, fork: null, args: [], stdin: null, memoryBytes: null, timeoutMs: ASKED_MS };
  const { endedBy } = await sandbox.run(programOf(sandbox, program), output.sink).end;
  if (endedBy !== 'itself') return undefined;
  const [found = UNKNOWN_VERSION] = /\d+\.\d+(\.\d+)?/.exec(output.text('both').text) ?? [];
  return found.split('.').length === 2 ? `${found}.0` : found;
}
