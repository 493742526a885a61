import { spawn } from 'node:child_process';
import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { closeSync, existsSync, openSync, unlinkSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { setPriority } from 'node:os';
import path from 'node:path';
import { systemCode } from '../lib/index.ts';
import type { StartWish } from '../protocol/index.ts';
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

/** A program that has been started. */
export interface Program {
  /** Undefined as long as it is not known. */
  readonly pid: number | undefined;
  /** Where it says its working directory. */
  readonly reports: Socket | null;
  readonly ended: Promise<ProgramEnd>;
}

/**
 * Makes the program the first that the kernel kills when memory runs out, sets its limits, and goes to its folder with its
 * user's rights.
 */
const LAUNCH = `{ echo 1000 > /proc/self/oom_score_adj; } 2> /dev/null
umask "$1"; ulimit -d "$2"
[ "$3" = unlimited ] || ulimit -p "$3" 2> /dev/null || ulimit -u "$3"
shift 3
cd -- "$0" 2> /dev/null || {
  cd -- "\${WORKSPACE:-$HOME}" 2> /dev/null || cd -- "$HOME" 2> /dev/null || cd /
  echo "The working directory $0 cannot be entered any more: this command runs in $PWD." >&2
}
exec "$@"`;

/** Starts a program as its user, with the pipes as its output and a descriptor 3 for its working directory. */
export function launch(wish: StartWish, pipes: OutputPipes, reserve: Reserve | null): Program {
  const child = start(wish, pipes, reserve);
  pipes.handOver();
  if (child instanceof Error) {
    const ended = Promise.resolve({ code: null, signal: null, problem: reasonFor(child), used: null });
    return { pid: undefined, reports: null, ended };
  }
  const ended = new Promise<ProgramEnd>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal, problem: null, used: null }));
    child.once('error', ({ message }) => resolve({ code: null, signal: null, problem: message, used: null }));
  });
  return { pid: child.pid, reports: child.stdio[3] as Socket, ended };
}

/** What the kernel refuses is thrown, or comes as an event. */
function start(wish: StartWish, pipes: OutputPipes, reserve: Reserve | null): ChildProcess | Error {
  const { argv, env, cwd, home, uid, isPrivate, dataBytes, stdin } = wish;
  const limits = [
    isPrivate ? '077' : '022',
    dataBytes === null ? 'unlimited' : String(Math.ceil(dataBytes / 1024)),
    isPrivate ? String(MOST_PROCESSES) : 'unlimited',
  ];
  const options: SpawnOptions = {
    cwd: '/',
    env: { HOME: home, ...env },
    uid,
    gid: uid,
    detached: true,
  };
  let input: number | 'ignore' = 'ignore';
  try {
    const content = stdin === null ? null : Buffer.from(stdin, 'base64');
    if (content !== null) input = reserve?.openInput(uid, content) ?? openInput(wish, content);
    options.stdio = [input, ...pipes.ends, 'pipe'];
    const child = isShell(wish)
      ? spawn(BASH, argv.slice(1), { ...options, argv0: 'bash', env: { ...options.env, [FOLDER]: cwd } })
      : spawn('/bin/sh', ['-c', LAUNCH, cwd, ...limits, ...argv], options);
    giveWay(child.pid, uid);
    return child;
  } catch (error) {
    return error as Error;
  } finally {
    if (typeof input === 'number') closeSync(input);
  }
}

/** With one of them bash reads no prelude, or may read none. */
const WITHOUT_PRELUDE = ['POSIXLY_CORRECT', 'POSIX_PEDANTIC', 'SHELLOPTS'];

/** Each further program before it takes about as long as bash itself. */
const isShell = ({ isShell: isWished, env }: StartWish): boolean =>
  isWished === true && WITHOUT_PRELUDE.every((name) => env[name] === undefined) && existsSync(BASH);

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
function giveWay(pid: number | undefined, uid: number): void {
  try {
    if (pid !== undefined) asUser(uid, () => setPriority(pid, LATER));
  } catch {
    // It has ended already.
  }
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
