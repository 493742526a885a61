import { readFileSync } from 'node:fs';
import { asAppError, line, listenForShutdown, printableBlock, printableJson } from '../lib/index.ts';
import type { AppError, Printable } from '../lib/index.ts';
import type { CliContext } from './command.ts';
import { runProgram } from './program.ts';
import { wantsColor } from './render/colors.ts';
import { canDraw, createScreen } from './screen.ts';

const argv = process.argv.slice(2);
/** What comes after `--` is another program's. */
const own = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
/** Indents all lines of an error after the first: they may quote files, parsers and git. */
const MARGIN = '  ';
const asJson = own.includes('--json');

/** The work goes on when the reader of a pipe has gone, as `head` does. */
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

const screen = createScreen(process.stdout);
const out = (text: Printable): void => screen.whenClosed(() => void process.stdout.write(text.toString()));
const err = (text: Printable): void => screen.whenClosed(() => void process.stderr.write(text.toString()));

/** Node would print warnings itself, with control characters of a quoted file in them. */
process.removeAllListeners('warning');
process.on('warning', ({ name, message }) => err(line`${name}: ${message}\n`));

/** How long an orderly end may take after an uncaught error. */
const CRASH_MS = 60_000;

const force: (() => Promise<void>)[] = [];
let isSilent = false;
const shutdown = listenForShutdown(
  (name) => {
    // A live view says it in its own way.
    if (!isSilent && !screen.isOpen) err(line`\n${name}: stopping in order; once more to stop at once …\n`);
  },
  (exit) => {
    if (!isSilent) err(line`\nStopping at once. What was finished is kept.\n`);
    stopAtOnce(exit);
  },
);

function stopAtOnce(exit: number): void {
  screen.close();
  void Promise.allSettled(force.map((work) => work())).then(() => process.exit(exit));
}

/** An error that no code has caught: the run is stopped as after a signal, then the error is printed. */
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

const terminal = process.stdout.isTTY && process.stdin.isTTY && !asJson;

const context: CliContext = {
  cwd: process.cwd(),
  env: process.env,
  terminal,
  screen: terminal && canDraw(process.stdout, process.env) ? screen : undefined,
  color: wantsColor(process.env, process.stdout.isTTY),
  out,
  err,
  streams: process,
  ask,
  confirm: async (question) => /^y(es)?$/i.test(await ask(line`${question} [y/N]`)),
  interrupted: shutdown.signal,
  onForce: (work) => force.push(work),
  endSilently: () => {
    isSilent = true;
  },
  version: ownVersion(),
};

/** As after Ctrl-C. */
const CANCELLED = 130;

async function ask(question: Printable): Promise<string> {
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await terminal.question(`${question.toString()} `, { signal: shutdown.signal })).trim();
  } catch (error) {
    // While a question is open, Ctrl-C and Ctrl-D come as this error and not as a signal.
    if (!(error instanceof Error && error.name === 'AbortError')) throw error;
    err(line`\n`);
    shutdown.stop(CANCELLED);
    throw shutdown.signal.reason;
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
    out(line`${printableJson({ type: 'error', code, message, ...problemsOf(error), hint, exit })}\n`);
  } else {
    err(line`error: ${printableBlock(error.message, MARGIN)}\n\n${printableBlock(error.hint, MARGIN)}\n`);
  }
  if (!own.includes('--debug')) return;
  const stacks = `${error.stack}\n${error.cause instanceof Error ? error.cause.stack : ''}`;
  err(line`\n${printableBlock(stacks, MARGIN)}\n`);
}

/** Those of an error that may have several, one by one. */
function problemsOf({ facts }: AppError): object {
  const isList = typeof facts === 'object' && facts !== null && 'problems' in facts && Array.isArray(facts.problems);
  return isList ? { problems: facts.problems } : {};
}

/** Resolves when all output has been read, or its reader is gone. */
function drained(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write('', () => resolve());
  });
}

try {
  process.exitCode = await runProgram(argv, context);
} catch (error) {
  const known = asAppError(error);
  // Work that was interrupted on request is no error.
  if (!(shutdown.signal.aborted && error === shutdown.signal.reason)) tell(known);
  process.exitCode = shutdown.signal.aborted ? Number(shutdown.signal.reason) : known.exit;
}
if (crash !== undefined) tell(crash);
screen.close();
shutdown.dispose();
// To exit before would cut off output that the reader of a pipe has not read yet.
await Promise.all([process.stdout, process.stderr].map(drained));
process.exit();
