import { availableParallelism } from 'node:os';
import path from 'node:path';
import { findProgram, run } from '../lib/index.ts';

const MB = 1024 ** 2;

/** What Node may take for itself, beside what it has when it has begun: the stacks of more threads above all. */
const LATER_BYTES = 80 * MB;
/** Descriptors: enough for Node to start, and few enough to be used up before the code begins. */
const DESCRIPTORS = 64;
/**
 * Limits that no program can lift: no core files, no byte into any file, seconds of processor, kilobytes of its own memory.
 * When memory runs out on the whole machine, the kernel ends it first.
 */
const LIMITS = `{ echo 1000 > /proc/self/oom_score_adj; } 2> /dev/null
ulimit -c 0 && ulimit -f 0 && ulimit -n ${DESCRIPTORS} && ulimit -t "$1" && ulimit -d "$2" && shift 2 && exec "$@"`;

/** Ends with this process, and gets no rights from programs that have the setuid bit. Linux alone has it. */
const BINDER = 'setpriv';
const BINDS = ['--no-new-privs', '--pdeathsig', 'KILL'];

const SHOW_STATUS = "console.log(require('node:fs').readFileSync('/proc/self/status', 'latin1'))";

export interface ChildFacts {
  readonly node: string;
  /** The bundled program; it may read the folder that it is in and its working folder, and nothing else. */
  readonly program: string;
  /** For the code, beside what Node takes for itself. */
  readonly memoryBytes: number;
  /** What Node has taken for itself when it has begun: 48 MB, since Node 24 ten times as much. */
  readonly ownBytes: number;
  /** Words before the command, or none. */
  readonly bound: readonly string[];
}

/** What binds a child process to this one; empty where there is nothing of the kind. */
export async function findBound(env: { readonly PATH?: string | undefined }): Promise<readonly string[]> {
  const found = await findProgram(BINDER, env);
  if (found === undefined) return [];
  // What is tried here is what is started later, with another PATH.
  const file = path.resolve(found);
  const tried = await run(file, [...BINDS, 'true'], { cwd: '/', env: { PATH: env.PATH } }).catch(() => undefined);
  return tried?.code === 0 ? [file, ...BINDS] : [];
}

/** Zero where there is no such file, and no such limit either. */
export async function findOwnBytes(node: string): Promise<number> {
  const { stdout } = await run(node, ['--eval', SHOW_STATUS], { cwd: '/', env: {} });
  return Number(/^VmData:\s*(\d+) kB$/m.exec(stdout)?.[1] ?? 0) * 1024;
}

interface Call {
  /** Where it works. */
  readonly folder: string;
  readonly timeoutMs: number;
}

export function childCommand(
  facts: ChildFacts,
  { folder, timeoutMs }: Call,
): { file: string; args: readonly string[] } {
  const { node, program, memoryBytes, ownBytes, bound } = facts;
  const seconds = Math.ceil(timeoutMs / 1000) * availableParallelism() + 1;
  const limits = [String(seconds), String(Math.ceil((memoryBytes + ownBytes + LATER_BYTES) / 1024))];
  return { file: '/bin/sh', args: ['-c', LIMITS, 'sh', ...limits, ...bound, node, ...flags(facts, folder), program] };
}

function flags({ program, memoryBytes }: ChildFacts, folder: string): readonly string[] {
  // Its name up to Node 22.12.
  const known = process.allowedNodeEnvironmentFlags;
  const permission = known.has('--permission') ? '--permission' : '--experimental-permission';
  return [
    permission,
    ...[path.dirname(program), folder].map((each) => `--allow-fs-read=${each}/*`),
    '--disallow-code-generation-from-strings',
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    `--max-old-space-size=${Math.floor((memoryBytes * 0.75) / MB)}`,
  ];
}
