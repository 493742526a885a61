import { fileURLToPath } from 'node:url';
import { Command as Commander, CommanderError, Help, Option } from 'commander';
import { approve } from './commands/approve.ts';
import { build } from './commands/build.ts';
import { check } from './commands/check.ts';
import { cleanup } from './commands/cleanup.ts';
import { completion } from './commands/completion.ts';
import { demo } from './commands/demo.ts';
import { design } from './commands/design.ts';
import { doctor } from './commands/doctor.ts';
import { init } from './commands/init.ts';
import { kurukshetra } from './commands/kurukshetra.ts';
import { list } from './commands/list.ts';
import { logs } from './commands/logs.ts';
import { mcp } from './commands/mcp.ts';
import { merge } from './commands/merge.ts';
import { plan } from './commands/plan.ts';
import { serve } from './commands/serve.ts';
import { sessions } from './commands/sessions.ts';
import { report } from './commands/report.ts';
import { retry } from './commands/retry.ts';
import { shell } from './commands/shell.ts';
import { status } from './commands/status.ts';
import { stop } from './commands/stop.ts';
import { libErrors, printableBlock } from '../lib/index.ts';
import type { AppError } from '../lib/index.ts';
import { FEATURE_ARGUMENT } from './command.ts';
import { helpBelow, helpWidth } from './help.ts';
import type { CliContext, CommandDefinition, InputOf } from './command.ts';

interface Command {
  readonly definition: CommandDefinition;
  run(this: void, input: object, context: CliContext): Promise<number>;
}

/** The code of a command is loaded when it runs, because it is most of the program. */
export const COMMANDS: readonly Command[] = [
  command(init, async (...given) => (await import('./setup/init-project.ts')).initProject(...given)),
  command(plan, async (...given) => (await import('./planning/plan-requirements.ts')).planRequirements(...given)),
  command(approve, async (...given) => (await import('./planning/approve-feature.ts')).approveFeature(...given)),
  command(design, async (...given) => (await import('./planning/design-tasks.ts')).designTasks(...given)),
  command(check, async (...given) => (await import('./planning/check-graph.ts')).checkGraph(...given)),
  command(kurukshetra, async (...given) => (await import('./run/build-feature.ts')).buildFeature(...given)),
  command(list, async (...given) => (await import('./inspect/show-features.ts')).showFeatures(...given)),
  command(status, async (...given) => (await import('./inspect/show-status.ts')).showStatus(...given)),
  command(logs, async (...given) => (await import('./inspect/show-logs.ts')).showLogs(...given)),
  command(shell, async (...given) => (await import('./shell/enter-container.ts')).enterContainer(...given)),
  command(stop, async (...given) => (await import('./run/stop-run.ts')).stopFeature(...given)),
  command(retry, async (...given) => (await import('./run/retry-failed.ts')).retryFailed(...given)),
  command(report, async (...given) => (await import('./report/report-feature.ts')).reportFeature(...given)),
  command(merge, async (...given) => (await import('./merge/merge-feature.ts')).mergeFeature(...given)),
  command(cleanup, async (...given) => (await import('./cleanup/clean-feature.ts')).cleanUp(...given)),
  command(serve, async (...given) => (await import('./serve/serve-requests.ts')).serveRequests(...given)),
  command(mcp, async (...given) => (await import('./mcp/serve-client.ts')).serveClient(...given)),
  command(sessions, async (...given) => (await import('./serve/show-sessions.ts')).showSessions(...given)),
  command(build, async (...given) => (await import('./images/build-image.ts')).buildImage(...given)),
  command(doctor, async (...given) => (await import('./doctor/examine-machine.ts')).examine(...given)),
  command(completion, async (...given) =>
    (await import('./completion/complete.ts')).complete(
      ...given,
      COMMANDS.map(({ definition }) => definition),
    ),
  ),
  command(demo, async (...given) => (await import('./setup/run-demo.ts')).runDemo(...given)),
];

/** The cast is safe, because the input is parsed by the same definition. */
export function command<Definition extends CommandDefinition>(
  definition: Definition,
  run: (input: InputOf<Definition>, context: CliContext) => Promise<number>,
): Command {
  return { definition, run: (input, context) => run(input as InputOf<Definition>, context) };
}

const SUMMARY = 'Hand a feature to many workers at once; get one merged and gated branch back.';

const EXIT_HELP = `
Exit status: 0 done · 1 work failed · 2 wrong use · 3 paused · 4 environment
             129, 130 or 143 interrupted

A first look:  mahabharatha demo
Documents:     ${fileURLToPath(new URL('../../../docs', import.meta.url))}
`;

/** Runs one command line and returns its exit status. Errors of the command itself are thrown. */
export async function runProgram(
  argv: readonly string[],
  context: CliContext,
  commands: readonly Command[] = COMMANDS,
): Promise<number> {
  let exit = 0;
  const program = new Commander('mahabharatha').version(context.version, '-V');
  // The letter of earlier versions.
  for (const option of program.options) option.hideHelp();
  program
    .description(SUMMARY)
    .version(context.version, '-v, --version', 'print the version')
    .option('--debug', 'show the stack of errors')
    .addHelpText('after', EXIT_HELP)
    .showSuggestionAfterError();
  const width = helpWidth(context.streams.stdout.columns);
  for (const { definition, run } of commands) {
    addCommand(program, definition, width, async (input) => {
      if (definition.isViewer === true) context.endSilently();
      exit = await run(input, context);
    });
  }
  prepareOutput(program, context, width);
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

/** An error of the parser in our own form. */
function wrongUse(error: CommanderError, program: Commander, argv: readonly string[]): AppError {
  const word = argv.find((word) => !word.startsWith('-')) ?? '';
  const command = program.commands.find((command) => [command.name(), command.alias()].includes(word));
  const name = command === undefined ? 'mahabharatha' : `mahabharatha ${command.name()}`;
  const problem = error.message.replace(/^error: /, '').replaceAll('\n', ' ');
  const at = argv.findIndex((word) => word === '-f' || word === '--feature');
  const takesName = command?.registeredArguments[0]?.name() === 'feature';
  if (error.code === 'commander.unknownOption' && takesName && argv[at + 1] !== undefined && at > 0)
    return libErrors.USAGE({ problem, hint: `Name the feature without an option: ${name} ${argv[at + 1]}` });
  return libErrors.USAGE({ problem, hint: `See: ${name} --help` });
}

function addCommand(
  program: Commander,
  definition: CommandDefinition,
  width: number,
  run: (input: object) => Promise<void>,
): void {
  const command = program.command(definition.name).description(definition.summary);
  if (definition.alias !== undefined) command.alias(definition.alias);
  if (definition.argument !== undefined) command.argument(...definition.argument);
  if (definition.rest !== undefined) command.argument(...definition.rest);
  command.addHelpText('after', () => helpBelow(definition, width));
  const options = Object.entries(definition.options).map(([name, given]) => [name, new Option(...given)] as const);
  for (const [, option] of options) command.addOption(option);
  command.action(async () => {
    const given = command.opts<Record<string, string | boolean>>();
    const values = options.map(([name, option]) => {
      const value = given[option.attributeName()];
      return [name, option.isBoolean() ? value === true : value];
    });
    const [argument, ...rest] = command.args;
    const empty = options.find(([, option]) => given[option.attributeName()] === '')?.[1].long;
    if (empty !== undefined || argument === '') throw emptyInput(definition, empty ?? definition.argument?.[0]);
    await run({ ...withFeature(definition, Object.fromEntries(values), argument), argument, rest });
  });
}

/** A feature may be named without its option. */
function withFeature(
  { argument }: CommandDefinition,
  values: Record<string, unknown>,
  name: string | undefined,
): object {
  if (argument !== FEATURE_ARGUMENT || name === undefined) return values;
  const { feature = name } = values;
  if (feature === name) return { ...values, feature };
  throw libErrors.USAGE({
    problem: `Two features are named: ${name} and ${String(feature)}.`,
    hint: 'Leave one of them out.',
  });
}

/** As from a variable of a script that is not set. */
function emptyInput({ name }: CommandDefinition, what: string | undefined): AppError {
  return libErrors.USAGE({ problem: `${what} is empty.`, hint: `Give it a value. See: mahabharatha ${name} --help` });
}

/** Only the entrypoint prints and ends the process, so commander is kept from both. */
function prepareOutput(program: Commander, context: CliContext, width: number): void {
  const writeOut = (help: string): void => context.out(printableBlock(help, ''));
  const writeErr = (help: string): void => context.err(printableBlock(help, ''));
  for (const command of [program, ...program.commands]) {
    command.exitOverride();
    command.configureOutput({
      writeOut,
      writeErr,
      outputError: () => undefined,
      getOutHelpWidth: () => width,
      getErrHelpWidth: () => width,
    });
    // All have options: without the word there is room for what the commands do.
    command.configureHelp({ subcommandTerm: (one) => new Help().subcommandTerm(one).replace(' [options]', '') });
  }
}
