import { pipeline } from 'node:stream/promises';
import type { OpenShell } from '../../project/index.ts';
import type { CliContext } from '../command.ts';
import { rawTerminal } from './raw-terminal.ts';

/** As of a program whose reader has gone. */
const NO_READER = 141;

/** Runs one program with the user's own streams. Null when it has no exit status. Throws the reason of an interruption. */
export async function attach(
  shell: Pick<OpenShell, 'start'>,
  command: readonly string[],
  context: CliContext,
): Promise<number | null> {
  const { streams, interrupted, terminal: isTerminal, env } = context;
  const { stdin, stdout, stderr } = streams;
  const size = () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 });
  const terminal = isTerminal ? { ...size(), type: env['TERM'] ?? 'xterm' } : null;
  const program = await shell.start({ command, terminal });
  const resized = (): void => void program.resize(size()).catch(() => undefined);
  const over = new AbortController();
  if (isTerminal) stdout.on('resize', resized);
  const restore = isTerminal ? await rawTerminal(context) : undefined;
  try {
    // The program may end before its input does.
    pipeline(stdin, program.stdin, { signal: over.signal }).catch(() => undefined);
    program.stdout.pipe(stdout, { end: false });
    program.stderr.pipe(stderr, { end: false });
    const broken = untilBroken(stdout, interrupted, over.signal);
    return await Promise.race([program.exit(), broken]);
  } finally {
    over.abort();
    stdout.off('resize', resized);
    await restore?.();
    await program.end();
  }
}

/** Resolves when the reader of the output has gone, rejects with the reason of an interruption. */
function untilBroken(stdout: NodeJS.WritableStream, interrupted: AbortSignal, over: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    const noReader = (): void => resolve(NO_READER);
    const interrupt = (): void => reject(interrupted.reason as Error);
    if (interrupted.aborted) interrupt();
    stdout.once('error', noReader);
    interrupted.addEventListener('abort', interrupt, { once: true, signal: over });
    over.addEventListener('abort', () => stdout.off('error', noReader), { once: true });
  });
}
