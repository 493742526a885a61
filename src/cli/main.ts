import { readFileSync } from 'node:fs';
import { asAppError, line, listenForShutdown, printableBlock, printableJson } from '../lib/index.ts';
import type { AppError, Printable } from '../lib/index.ts';
import type { CliContext } from './command.ts';
import { runProgram } from './program.ts';

const argv = process.argv.slice(2);
/** Lines of an error's text that are not its first: files, parsers and git have their say in them. */
const MARGIN = '  ';
const asJson = argv.includes('--json');

/** A reader that goes away (`| head`) is no reason to stop the work. */
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

const out = (text: Printable): void => void process.stdout.write(text.toString());
const err = (text: Printable): void => void process.stderr.write(text.toString());

/** Node would print these itself, with what a parser quotes of a file in them. */
process.removeAllListeners('warning');
process.on('warning', ({ name, message }) => err(line`${name}: ${message}\n`));

/** An orderly end that takes longer does not come: what was to lead to it is broken. */
const CRASH_MS = 60_000;

const force: (() => Promise<void>)[] = [];
const shutdown = listenForShutdown(
  (name) => err(line`\n${name}: stopping in order; once more to stop at once …\n`),
  (exit) => {
    err(line`\nStopping at once. What was finished is kept.\n`);
    stopAtOnce(exit);
  },
);

function stopAtOnce(exit: number): void {
  void Promise.allSettled(force.map((work) => work())).then(() => process.exit(exit));
}

/** What was thrown where nothing could catch it: the run ends as if it had been asked to, and then this is told. */
let crash: AppError | undefined;
process.on('uncaughtException', (error) => {
  if (crash !== undefined) return;
  const known = asAppError(error);
  crash = known;
  setTimeout(() => {
    tell(known);
    stopAtOnce(known.exit);
  }, CRASH_MS).unref();
  shutdown.stop(known.exit);
});

const context: CliContext = {
  cwd: process.cwd(),
  env: process.env,
  terminal: process.stdout.isTTY && process.stdin.isTTY && !asJson,
  color: process.stdout.isTTY && (process.env['NO_COLOR'] ?? '') === '',
  out,
  err,
  confirm,
  interrupted: shutdown.signal,
  onForce: (work) => force.push(work),
  version: ownVersion(),
};

async function confirm(question: Printable): Promise<boolean> {
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question(`${question.toString()} [y/N] `, { signal: shutdown.signal });
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
    out(line`${printableJson({ type: 'error', code, message, hint, exit })}\n`);
  } else {
    err(line`error: ${printableBlock(error.message, MARGIN)}\n\n${printableBlock(error.hint, MARGIN)}\n`);
  }
  if (!argv.includes('--debug')) return;
  const stacks = `${error.stack}\n${error.cause instanceof Error ? error.cause.stack : ''}`;
  err(line`\n${printableBlock(stacks, MARGIN)}\n`);
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
if (crash !== undefined) tell(crash);
shutdown.dispose();
// To exit at once would cut what a pipe's reader has not taken yet.
await Promise.all([process.stdout, process.stderr].map(drained));
process.exit();
