import type { ForkServerWish, ForkWish } from '../protocol/index.ts';
import { captureOutput } from './capture.ts';
import type { Language } from './languages.ts';
import { newPlace, programOf, writeProgram } from './programs.ts';
import type { Place } from './programs.ts';
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

/** The interpreters of each sandbox, by what they are; true when one is there and was tried. */
const known = new WeakMap<Sandbox, Map<string, boolean>>();

/** How a program is run by a fork server; null when there is none yet, and then one is started. */
export function forkFor(
  sandbox: Sandbox,
  language: Language,
  { file }: Pick<Place, 'file'>,
  args: readonly string[],
): ForkWish | null {
  const server = forkServerOf(language);
  if (server === null) return null;
  if (known.get(sandbox)?.get(server.program.join(' ')) === true) return { program: server.program, file, args };
  void startForkServer(sandbox, language).catch(() => undefined);
  return null;
}

/** Starts the fork server of a language that can have one. It is used once a program has run in it as it should. */
export async function startForkServer(sandbox: Sandbox, language: Language): Promise<void> {
  const server = forkServerOf(language);
  if (server === null) return;
  const servers = known.get(sandbox) ?? new Map<string, boolean>();
  known.set(sandbox, servers);
  const key = server.program.join(' ');
  if (servers.has(key)) return;
  servers.set(key, false);
  const place = newPlace(language.extension);
  const env = { ...sandbox.env, HOME: '/nonexistent' };
  if (!(await sandbox.prepare({ ...server, env, file: place.file }))) return;
  const { code, print } = PROBES[server.kind];
  await writeProgram(sandbox, place, [{ path: place.file, content: Buffer.from(code).toString('base64') }]);
  const output = captureOutput(1000);
  const fork = { program: server.program, file: place.file, args: [] };
  const asked = { language, place, fork, args: [], stdin: null, memoryBytes: null, timeoutMs: PROBE_MS };
  const { code: exit } = await sandbox.run(programOf(sandbox, asked), output.sink).end;
  servers.set(key, exit === 0 && output.text('stdout').text === print(place.file));
}

function forkServerOf({ command }: Language): Pick<ForkServerWish, 'kind' | 'program'> | null {
  const [program = '', ...options] = command.slice(0, -1);
  const kind = KINDS.find((each) => each.program.test(program) && options.every((option) => each.option.test(option)));
  if (kind === undefined || command.at(-1) !== '{filepath}') return null;
  return { kind: kind.kind, program: [program, ...options] };
}
