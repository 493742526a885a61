import type { Engine, Execution, TerminalSize } from '../engines/index.ts';
import { randomId, within } from '../lib/index.ts';
import { HANDOVER_MARK, INSIDE, MARKS } from '../protocol/index.ts';

/** How long the end of what a program has left running may take. */
const END_MS = 5000;

/**
 * Holds what a person runs: it ends all of that when its own stdin ends, also when our process was killed. The engine
 * itself would let it live on. Usage: sh -c … sh <id>
 */
const LEASH = `
cat > /dev/null
how=HUP
for round in 1 2 3 4 5 6 7 8 9 10; do
  left=
  for file in /proc/[0-9]*/environ; do
    grep -qszxF "${MARKS.shell}=$1" "$file" || continue
    pid=\${file#/proc/}
    kill -$how "\${pid%/environ}" 2> /dev/null && left=1
  done
  [ -n "$left" ] || exit 0
  how=KILL
  sleep 0.1
done`;

/** Told in words when it is missing: the engine's own answer names its parts. */
const BY_NAME = ['bash', '-c', 'exec "$@"', 'bash'] as const;
/** Without start-up files, which a task may have written. */
const AT_TERMINAL = ['bash', '--noprofile', '--norc'] as const;
const FROM_STDIN = ['bash', '-s'] as const;

export interface ProgramInput {
  /** Empty for a shell: at the terminal, or one that reads stdin. */
  readonly command: readonly string[];
  /** The user's terminal. Null: the program has plain streams. */
  readonly terminal: Terminal | null;
}

interface Terminal extends TerminalSize {
  /** Its value of TERM. */
  readonly type: string;
}

/** What a person runs in a worker's container, beside all that runs there. */
export interface Program extends Pick<Execution, 'stdin' | 'stdout' | 'stderr' | 'resize' | 'exit'> {
  /** Ends it with all that it has started. */
  end(): Promise<void>;
}

/** Runs a program under the user and the limits of a container. `env` is for it on top of the container's own. */
export async function startProgram(
  engine: Pick<Engine, 'execute'>,
  container: string,
  env: Readonly<Record<string, string>>,
  input: ProgramInput,
): Promise<Program> {
  const id = randomId();
  const hold = { command: ['/bin/sh', '-c', LEASH, 'sh', id], env: {}, workdir: '/', terminal: null } as const;
  const leash = await engine.execute(container, hold);
  for (const stream of [leash.stdout, leash.stderr]) stream.resume();
  try {
    const { stdin, stdout, stderr, resize, exit } = await engine.execute(container, {
      command: commandOf(input),
      env: { ...env, ...forTerminal(input.terminal), [MARKS.shell]: id, [HANDOVER_MARK]: null },
      workdir: INSIDE.worktree,
      terminal: input.terminal,
    });
    return { stdin, stdout, stderr, resize, exit, end: () => release(leash) };
  } catch (error) {
    await release(leash);
    throw error;
  }
}

async function release(leash: Execution): Promise<void> {
  leash.stdin.end();
  await within(END_MS, leash.exit());
  leash.close();
}

function forTerminal(terminal: Terminal | null): Record<string, string> {
  return terminal === null ? {} : { TERM: terminal.type, PS1: String.raw`\w\$ ` };
}

function commandOf({ command, terminal }: ProgramInput): readonly [string, ...string[]] {
  if (command.length > 0) return [...BY_NAME, ...command];
  return terminal === null ? FROM_STDIN : AT_TERMINAL;
}
