import type { ForkServerWish, ForkWish } from '../protocol/index.ts';
import { captureOutput } from './capture.ts';
import type { Language } from './languages.ts';
import { newPlace, programOf, writeProgram } from './programs.ts';
import type { Sandbox } from './sandbox.ts';

type Kind = ForkServerWish['kind'];

/** Which interpreters are known to do as they should with these options. */
const KINDS: readonly { kind: Kind; program: RegExp; option: RegExp }[] = [
  { kind: 'py', program: /^(.*\/)?python3?(\.\d+)?$/, option: /^-[BEIPsu]+$/ },
  { kind: 'rb', program: /^(.*\/)?ruby(\d\.\d)?$/, option: /^-[Ww]$/ },
];

/** A program that prints what it sees of its start, and what it has to print. */
const PROBES: Readonly<Record<Kind, { readonly code: string; print(file: string): string }>> = {
  py: {
    code: 'import sys\nprint(__name__, __file__, sys.argv)\n',
    print: (file) => `__main__ ${file} ['${file}']\n`,
  },
  rb: {
    code: 'p [__FILE__, $0, ARGV, caller]\n',
    print: (file) => `["${file}", "${file}", [], []]\n`,
  },
};
const PROBE_MS = 20_000;

/** The interpreters that fork, of the sandboxes where one is there and was tried. */
const tried = new WeakMap<Sandbox, readonly [string, ...string[]]>();

/** How a program is run by a fork server; null when there is none. */
export function forkFor(sandbox: Sandbox, file: string): ForkWish | null {
  const program = tried.get(sandbox);
  return program === undefined ? null : { program, file, args: [] };
}

/** Starts the fork server of a language that can have one. It is used once a program has run in it as it should. */
export async function startForkServer(sandbox: Sandbox, language: Language): Promise<void> {
  const server = forkServerOf(language);
  if (server === null) return;
  const place = newPlace(language.extension);
  const env = { ...sandbox.env, HOME: '/nonexistent' };
  if (!(await sandbox.prepare({ ...server, env, file: place.file }))) return;
  const { code, print } = PROBES[server.kind];
  await writeProgram(sandbox, place, code);
  const output = captureOutput(1000);
  const fork = { program: server.program, file: place.file, args: [] };
  const program = programOf(sandbox, { language, place, fork, timeoutMs: PROBE_MS });
  const { code: exit } = await sandbox.run(program, output.sink).end;
  if (exit === 0 && output.text('stdout').text === print(place.file)) tried.set(sandbox, server.program);
}

function forkServerOf({ command }: Language): Pick<ForkServerWish, 'kind' | 'program'> | null {
  const [program = '', ...options] = command.slice(0, -1);
  const known = KINDS.find((each) => each.program.test(program) && options.every((option) => each.option.test(option)));
  return known === undefined || command.at(-1) !== '{filepath}'
    ? null
    : { kind: known.kind, program: [program, ...options] };
}
