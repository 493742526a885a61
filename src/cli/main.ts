import { readFileSync } from 'node:fs';
import { asAppError, listenForShutdown } from '../lib/index.ts';
import type { AppError } from '../lib/index.ts';
import type { CliContext } from './command.ts';
import { runProgram } from './program.ts';

const argv = process.argv.slice(2);
const asJson = argv.includes('--json');

/** A reader that goes away (`| head`) is no reason to stop the work. */
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

const force: (() => Promise<void>)[] = [];
const shutdown = listenForShutdown(
  (name) => process.stderr.write(`\n${name}: stopping in order; once more to stop at once …\n`),
  (exit) => {
    process.stderr.write('\nStopping at once. What was finished is kept.\n');
    void Promise.allSettled(force.map((work) => work())).then(() => process.exit(exit));
  },
);

const context: CliContext = {
  cwd: process.cwd(),
  env: process.env,
  terminal: process.stdout.isTTY && process.stdin.isTTY && !asJson,
  color: process.stdout.isTTY && (process.env['NO_COLOR'] ?? '') === '',
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  confirm,
  interrupted: shutdown.signal,
  onForce: (work) => force.push(work),
  version: ownVersion(),
};

async function confirm(question: string): Promise<boolean> {
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question(`${question} [y/N] `, { signal: shutdown.signal });
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}

function ownVersion(): string {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  const value: unknown = JSON.parse(text);
  return typeof value === 'object' && value !== null && 'version' in value ? String(value.version) : 'unknown';
}

function tell(error: AppError): void {
  if (asJson) {
    const { code, message, hint, exit } = error;
    process.stdout.write(`${JSON.stringify({ type: 'error', code, message, hint, exit })}\n`);
  } else {
    process.stderr.write(`error: ${error.message}\n\n${error.hint}\n`);
  }
  if (argv.includes('--debug'))
    process.stderr.write(`\n${error.stack}\n${error.cause instanceof Error ? error.cause.stack : ''}\n`);
}

/** All that was written before has been taken, or nobody reads it any more. */
function drained(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write('', () => resolve());
  });
}

try {
  process.exitCode = await runProgram(argv, context);
} catch (error) {
  const known = asAppError(error);
  // What breaks off because it was asked to is no error.
  if (!(shutdown.signal.aborted && error === shutdown.signal.reason)) tell(known);
  process.exitCode = shutdown.signal.aborted ? Number(shutdown.signal.reason) : known.exit;
}
shutdown.dispose();
// To exit at once would cut what a pipe's reader has not taken yet.
await Promise.all([process.stdout, process.stderr].map(drained));
process.exit();
