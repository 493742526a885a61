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

/** A fork server that could not be made is tried again after a while, so often at most. */
const TRIES = 3;
const AGAIN_MS = 5000;

interface Tried {
  /** It is there, and a program has run in it as it should. */
  isReady: boolean;
  times: number;
  /** When it may be tried again, on the clock of `performance`. */
  next: number;
}

/** The interpreters of each sandbox, by what they are. */
const known = new WeakMap<Sandbox, Map<string, Tried>>();

/** How a program is run by a fork server; null when there is none yet, and then one is started. */
export function forkFor(
  sandbox: Sandbox,
  language: Language,
  { file }: Pick<Place, 'file'>,
  args: readonly string[],
): ForkWish | null {
  const server = forkServerOf(language);
  if (server === null) return null;
  if (known.get(sandbox)?.get(keyOf(server))?.isReady === true) return { program: server.program, file, args };
  void startForkServer(sandbox, language).catch(() => undefined);
  return null;
}

/** Starts the fork server of a language that can have one. It is used once a program has run in it as it should. */
export async function startForkServer(sandbox: Sandbox, language: Language): Promise<void> {
  const server = forkServerOf(language);
  if (server === null) return;
  const servers = known.get(sandbox) ?? new Map<string, Tried>();
  known.set(sandbox, servers);
  const tried = servers.get(keyOf(server)) ?? { isReady: false, times: 0, next: 0 };
  servers.set(keyOf(server), tried);
  if (tried.times >= TRIES || performance.now() < tried.next) return;
  Object.assign(tried, { times: tried.times + 1, next: Infinity });
  try {
    tried.isReady = await isMade(sandbox, language, server);
  } finally {
    if (!tried.isReady) tried.next = performance.now() + AGAIN_MS;
  }
}

async function isMade(sandbox: Sandbox, language: Language, server: Server): Promise<boolean> {
  const place = newPlace(sandbox, language.extension);
  const env = { ...sandbox.env, HOME: '/nonexistent' };
  if (!(await sandbox.prepare({ ...server, env, file: place.file }))) return false;
  const { code, print } = PROBES[server.kind];
  await writeProgram(sandbox, place, [{ path: place.file, content: Buffer.from(code).toString('base64') }]);
  const output = captureOutput(1000);
  const fork = { program: server.program, file: place.file, args: [] };
  const asked = { language, place, fork, args: [], stdin: null, memoryBytes: null, timeoutMs: PROBE_MS };
  const { code: exit } = await sandbox.run(programOf(sandbox, asked), output.sink).end;
  return exit === 0 && output.text('stdout').text === print(place.file);
}

type Server = Pick<ForkServerWish, 'kind' | 'program'>;

const keyOf = ({ program }: Server): string => program.join(' ');

function forkServerOf({ command }: Language): Server | null {
  const [program = '', ...options] = command.slice(0, -1);
  const kind = KINDS.find((each) => each.program.test(program) && options.every((option) => each.option.test(option)));
  if (kind === undefined || command.at(-1) !== '{filepath}') return null;
  return { kind: kind.kind, program: [program, ...options] };
}
