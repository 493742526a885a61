import { spawn } from 'node:child_process';
import type { ChildProcess, SpawnOptions, StdioOptions } from 'node:child_process';
import { closeSync, existsSync, openSync, unlinkSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { setPriority } from 'node:os';
import path from 'node:path';
import { asCommand, systemCode } from '../lib/index.ts';
import { WITHOUT_BASH_ENV } from '../protocol/index.ts';
import type { ProgramAhead, StartWish } from '../protocol/index.ts';
import { asUser, asUserAndGroup } from './as-user.ts';
import type { OutputPipes } from './pipes.ts';
import type { Reserve } from './reserve.ts';

/** Of a program that has neighbours: the others need some of those that the container may have. */
const MOST_PROCESSES = 48;
const LATER = 10;
const BASH = '/bin/bash';
/** Tells the prelude where the command runs. */
const FOLDER = 'MAHABHARATHA_CWD';

export interface ProgramEnd {
  readonly code: number | null;
  readonly signal: string | null;
  /** Why it could not be started. */
  readonly problem: string | null;
  /** What it has used, where that is known exactly. */
  readonly used: { readonly cpuMs: number; readonly peakBytes: number } | null;
  /** For its stderr: what has ended it, where neither its code nor its signal tells. */
  readonly note?: string;
}

export type Launch = (wish: StartWish, pipes: OutputPipes) => Program;

/** What a process gets from its start. */
type Started = Omit<ProgramAhead, 'argv' | 'waiting'>;

/** A program that has been started. */
export interface Program {
  /** Undefined as long as it is not known. */
  readonly pid: number | undefined;
  /** Where it says its working directory. */
  readonly reports: Socket | null;
  readonly ended: Promise<ProgramEnd>;
}

/** Makes the program the first that the kernel kills when memory runs out, and sets its limits. */
const LIMIT = `{ echo 1000 > /proc/self/oom_score_adj; } 2> /dev/null
umask "$1"; ulimit -d "$2"
[ "$3" = unlimited ] || ulimit -p "$3" 2> /dev/null || ulimit -u "$3"
shift 3
`;

/** Until the agent says where it goes and what it becomes: every process of the container can read arguments. */
const WAIT = `IFS= read -r MAHABHARATHA_LINE <&3 || exit
eval "set -- $MAHABHARATHA_LINE"
unset MAHABHARATHA_LINE
`;

/** Goes to the program's folder with its user's rights. */
const ENTER = `cd -- "$1" 2> /dev/null || {
  cd -- "\${WORKSPACE:-$HOME}" 2> /dev/null || cd -- "$HOME" 2> /dev/null || cd /
  echo "The working directory $1 cannot be entered any more: this command runs in $PWD." >&2
}
shift
exec "$@"`;

/** Starts a program as its user, with the pipes as its output and a descriptor 3 for its working directory. */
export function launch(wish: StartWish, pipes: OutputPipes, reserve: Reserve | null): Program {
  const child = start(wish, pipes, reserve);
  pipes.handOver();
  if (child instanceof Error) {
    const ended = Promise.resolve({ code: null, signal: null, problem: reasonFor(child), used: null });
    return { pid: undefined, reports: null, ended };
  }
  return followed(child);
}

/** Starts the process of a program that may come. Undefined when there is no room. */
export function launchAhead(wish: ProgramAhead, pipes: OutputPipes): Program | undefined {
  try {
    const stdio: StdioOptions = ['ignore', ...pipes.ends, 'pipe'];
    if (wish.waiting === null) return followed(spawnShell(LIMIT + WAIT + ENTER, [], wish, stdio));
    const { argv, env } = wish.waiting;
    return followed(spawnShell(LIMIT + ENTER, [wish.cwd, ...argv], { ...wish, env: { ...wish.env, ...env } }, stdio));
  } catch {
    return undefined;
  } finally {
    pipes.handOver();
  }
}

/** It becomes the program, of which it knows all already when it waits itself. */
export function goOn({ reports }: Program, { cwd, argv }: StartWish, isItself: boolean): void {
  reports?.write(isItself ? '\n' : `${asCommand([cwd, ...argv])}\n`);
}

function followed(child: ChildProcess): Program {
  const ended = new Promise<ProgramEnd>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal, problem: null, used: null }));
    child.once('error', ({ message }) => resolve({ code: null, signal: null, problem: message, used: null }));
  });
  return { pid: child.pid, reports: child.stdio[3] as Socket, ended };
}

/** What the kernel refuses is thrown, or comes as an event. */
function start(wish: StartWish, pipes: OutputPipes, reserve: Reserve | null): ChildProcess | Error {
  const { argv, env, cwd, uid, stdin } = wish;
  let input: number | 'ignore' = 'ignore';
  try {
    const content = stdin === null ? null : Buffer.from(stdin, 'base64');
    if (content !== null) input = reserve?.openInput(uid, content) ?? openInput(wish, content);
    const stdio: StdioOptions = [input, ...pipes.ends, 'pipe'];
    if (!isShell(wish)) return spawnShell(LIMIT + ENTER, [cwd, ...argv], wish, stdio);
    const options = optionsFor({ ...wish, env: { ...env, [FOLDER]: cwd } }, stdio);
    return givingWay(spawn(BASH, argv.slice(1), { ...options, argv0: 'bash' }), uid);
  } catch (error) {
    return error as Error;
  } finally {
    if (typeof input === 'number') closeSync(input);
  }
}

/** The shell becomes the program. */
function spawnShell(script: string, program: readonly string[], wish: Started, stdio: StdioOptions): ChildProcess {
  const { uid, isPrivate, dataBytes } = wish;
  const limits = [
    isPrivate ? '077' : '022',
    dataBytes === null ? 'unlimited' : String(Math.ceil(dataBytes / 1024)),
    isPrivate ? String(MOST_PROCESSES) : 'unlimited',
  ];
  return givingWay(spawn('/bin/sh', ['-c', script, 'sh', ...limits, ...program], optionsFor(wish, stdio)), uid);
}

const optionsFor = ({ env, home, uid }: Started, stdio: StdioOptions): SpawnOptions => ({
  cwd: '/',
  env: { HOME: home, ...env },
  uid,
  gid: uid,
  detached: true,
  stdio,
});

/** Each further program before it takes about as long as bash itself. */
const isShell = ({ isShell: isWished, env }: StartWish): boolean =>
  isWished === true && WITHOUT_BASH_ENV.every((name) => env[name] === undefined) && existsSync(BASH);

/** A file without a name, which its user may open again as /dev/stdin. */
function openInput({ uid, home }: StartWish, content: Buffer): number {
  return asUserAndGroup(uid, () => {
    const place = path.posix.join(home, '.stdin');
    writeFileSync(place, content, { mode: 0o600, flag: 'wx' });
    const input = openSync(place, 'r');
    unlinkSync(place);
    return input;
  });
}

/** What ends programs comes before them. */
function givingWay(child: ChildProcess, uid: number): ChildProcess {
  const { pid } = child;
  try {
    if (pid !== undefined) asUser(uid, () => setPriority(pid, LATER));
  } catch {
    // It has ended already.
  }
  return child;
}

function reasonFor(error: Error): string {
  const isLong = systemCode(error) === 'E2BIG';
  return isLong ? 'its command or its variables are longer than a program may get' : error.message;
}

/** An interpreter that stays: root like this process, with a descriptor 3 that leads here. */
export type Interpreter = ReturnType<typeof startInterpreter>;

export function startInterpreter(argv: readonly [string, ...string[]], env: StartWish['env']) {
  const [command, ...args] = argv;
  // It looks at its outputs when it starts, and those of programs are pipes.
  const child = spawn(command, args, { cwd: '/', env, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
  for (const output of [child.stdout, child.stderr]) output?.resume().on('error', () => undefined);
  return child;
}
