import { Command as Commander, CommanderError } from 'commander';
import { build } from './commands/build.ts';
import { cleanup } from './commands/cleanup.ts';
import { demo } from './commands/demo.ts';
import { doctor } from './commands/doctor.ts';
import { init } from './commands/init.ts';
import { kurukshetra } from './commands/kurukshetra.ts';
import { logs } from './commands/logs.ts';
import { merge } from './commands/merge.ts';
import { retry } from './commands/retry.ts';
import { status } from './commands/status.ts';
import { stop } from './commands/stop.ts';
import { libErrors, printableBlock } from '../lib/index.ts';
import type { AppError } from '../lib/index.ts';
import type { CliContext, Command, CommandInput } from './command.ts';

export const COMMANDS: readonly Command[] = [
  init,
  kurukshetra,
  status,
  logs,
  stop,
  retry,
  merge,
  cleanup,
  build,
  doctor,
  demo,
];

const SUMMARY = 'Hand a feature to many workers at once; get one merged and gated branch back.';

const EXIT_HELP = `
Exit status: 0 done · 1 work failed · 2 wrong use · 3 paused · 4 environment · 130/143 interrupted

A first look:  mahabharatha demo
`;

/** Runs one command line and returns its exit status. Errors of the command itself are thrown. */
export async function runProgram(argv: readonly string[], context: CliContext): Promise<number> {
  let exit = 0;
  const program = new Commander('mahabharatha')
    .description(SUMMARY)
    .version(context.version, '-V, --version')
    .option('--debug', 'show the stack of errors')
    .addHelpText('after', EXIT_HELP)
    .showSuggestionAfterError();
  for (const command of COMMANDS) {
    addCommand(program, command, async (input) => {
      exit = await command.run(input, context);
    });
  }
  prepareOutput(program, context);
  try {
    if (argv.length === 0) program.help({ error: true });
    await program.parseAsync([...argv], { from: 'user' });
    return exit;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return 0;
    if (error.code === 'commander.help') return 2;
    throw wrongUse(error, program, argv);
  }
}

/** The parser's complaint, told like any other error. */
function wrongUse(error: CommanderError, program: Commander, argv: readonly string[]): AppError {
  const word = argv.find((word) => !word.startsWith('-')) ?? '';
  const command = program.commands.find((command) => [command.name(), command.alias()].includes(word));
  const name = command === undefined ? 'mahabharatha' : `mahabharatha ${command.name()}`;
  const problem = error.message.replace(/^error: /, '').replaceAll('\n', ' ');
  return libErrors.USAGE({ problem, hint: `See: ${name} --help` });
}

function addCommand(program: Commander, definition: Command, run: (input: CommandInput) => Promise<void>): void {
  const command = program.command(definition.name).description(definition.summary);
  if (definition.alias !== undefined) command.alias(definition.alias);
  const { argument } = definition;
  if (argument !== undefined) command.argument(argument.name, argument.summary);
  for (const { flags, summary } of definition.options) command.option(flags, summary);
  command.addHelpText('after', examplesText(definition));
  command.action(async (...given: unknown[]) => {
    const value = argument === undefined ? undefined : given[0];
    await run({ ...command.opts<CommandInput>(), ...(typeof value === 'string' ? { argument: value } : {}) });
  });
}

function examplesText({ examples, details = [] }: Command): string {
  const width = Math.max(...examples.map(([command]) => command.length));
  const paragraphs = details.map((text) => `\n${text}\n`).join('');
  return `${paragraphs}\nExamples:\n${examples.map(([command, meaning]) => `  $ ${command.padEnd(width)}   ${meaning}`).join('\n')}\n`;
}

/** commander must neither print by itself nor end the process: that is for the entrypoint alone. */
function prepareOutput(program: Commander, context: CliContext): void {
  const writeOut = (help: string): void => context.out(printableBlock(help, ''));
  const writeErr = (help: string): void => context.err(printableBlock(help, ''));
  for (const command of [program, ...program.commands]) {
    command.exitOverride();
    command.configureOutput({ writeOut, writeErr, outputError: () => undefined });
  }
}
