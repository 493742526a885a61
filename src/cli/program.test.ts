import { describe, expect, expectTypeOf, it } from 'vitest';
import { FEATURE_ARGUMENT, FEATURE_OPTION } from './command.ts';
import type { CliContext, CommandDefinition, InputOf } from './command.ts';
import { COMMANDS, command, runProgram } from './program.ts';

const sample = {
  name: 'sample',
  argument: ['[task]', 'a task'],
  summary: 'has an option of each kind',
  options: {
    file: ['-g, --other-name <path>', 'its name here is not the one on the command line'],
    dryRun: ['--dry-run', 'a flag'],
    cache: ['--no-cache', 'a flag that is on without it'],
  },
  examples: [['sample', 'does nothing']],
} as const satisfies CommandDefinition;

const context: CliContext = {
  cwd: '/',
  env: {},
  terminal: false,
  screen: undefined,
  color: false,
  out: () => undefined,
  err: () => undefined,
  ask: () => Promise.resolve(''),
  confirm: () => Promise.resolve(false),
  interrupted: new AbortController().signal,
  onForce: () => undefined,
  endSilently: () => undefined,
  streams: process,
  version: '0',
};

async function inputFor(...argv: string[]): Promise<object[]> {
  const seen: object[] = [];
  const known = command(sample, (input) => Promise.resolve(seen.push(input)));
  expect(await runProgram(['sample', ...argv], context, [known])).toBe(1);
  return seen;
}

describe('the input of a command', () => {
  it('has a text for each option with a value, and true or false for all others', async () => {
    expectTypeOf<InputOf<typeof sample>>().toEqualTypeOf<
      { readonly file: string | undefined; readonly dryRun: boolean; readonly cache: boolean } & {
        readonly argument: string | undefined;
        readonly rest: readonly string[];
      }
    >();
    expect(await inputFor()).toEqual([{ file: undefined, dryRun: false, cache: true, argument: undefined, rest: [] }]);
    expect(await inputFor('T-1', '--other-name', 'x', '--dry-run', '--no-cache')).toEqual([
      { file: 'x', dryRun: true, cache: false, argument: 'T-1', rest: [] },
    ]);
  });

  it('is of the type that the definition says, in all commands', () => {
    const flags = COMMANDS.flatMap(({ definition }) => Object.values(definition.options).map(([given]) => given));
    // A value that may be left out, or comes more than once, would be of another type.
    expect(flags.filter((given) => /[[\]]|\.\.\./.test(given))).toEqual([]);
  });

  it('is refused with an argument or an option that the command does not have', async () => {
    await expect(inputFor('one', 'two')).rejects.toMatchObject({ code: 'USAGE' });
    await expect(inputFor('--unknown')).rejects.toMatchObject({ code: 'USAGE' });
  });

  it('is refused when it is empty, as from a variable that is not set', async () => {
    await expect(inputFor('--other-name', '')).rejects.toThrow('--other-name is empty.');
    await expect(inputFor('--other-name=')).rejects.toThrow('--other-name is empty.');
    await expect(inputFor('')).rejects.toThrow('[task] is empty.');
  });
});

describe('the name of a feature', () => {
  const aboutFeature = { ...sample, argument: FEATURE_ARGUMENT, options: { feature: FEATURE_OPTION } } as const;
  const featureFor = async (...argv: string[]): Promise<unknown> => {
    const seen: unknown[] = [];
    const known = command(aboutFeature, (input) => Promise.resolve(seen.push(input.feature)));
    await runProgram(['sample', ...argv], context, [known]);
    return seen[0];
  };

  it('may stand alone, or after --feature, but no other name beside it', async () => {
    expect(await featureFor('login')).toBe('login');
    expect(await featureFor('-f', 'login')).toBe('login');
    expect(await featureFor('login', '--feature', 'login')).toBe('login');
    expect(await featureFor()).toBeUndefined();
    await expect(featureFor('login', '-f', 'search')).rejects.toThrow('Two features are named: login and search.');
  });

  it('is taken in both forms by all commands that have the option and no other argument', () => {
    const alone = COMMANDS.filter(({ definition }) => definition.argument === undefined);
    expect(alone.filter(({ definition }) => 'feature' in definition.options)).toEqual([]);
  });

  it('is said to belong alone where there is no such option', async () => {
    const hint = 'Name the feature without an option: mahabharatha approve login';
    for (const flag of ['-f', '--feature'])
      await expect(runProgram(['approve', flag, 'login'], context)).rejects.toMatchObject({ code: 'USAGE', hint });
  });
});

it.each(['-v', '-V', '--version'])('%s prints the version', async (flag) => {
  let printed = '';
  const out: CliContext['out'] = (text) => void (printed += text.toString());
  expect(await runProgram([flag], { ...context, out })).toBe(0);
  expect(printed).toBe('0\n');
});

it('a command that only shows something is ended without words', async () => {
  const viewer = { ...sample, isViewer: true } as const;
  const silent: boolean[] = [];
  for (const definition of [sample, viewer]) {
    silent.push(false);
    const endSilently = (): void => void silent.splice(-1, 1, true);
    await runProgram(['sample'], { ...context, endSilently }, [command(definition, () => Promise.resolve(0))]);
  }
  expect(silent).toEqual([false, true]);
  expect(COMMANDS.flatMap(({ definition }) => (definition.isViewer === true ? definition.name : []))).toEqual([
    'status',
    'logs',
  ]);
});

async function helpOf(columns: number | undefined, ...argv: string[]): Promise<string> {
  let printed = '';
  const out: CliContext['out'] = (text) => void (printed += text.toString());
  const stdout = Object.create(process.stdout, { columns: { value: columns } }) as typeof process.stdout;
  await runProgram([...argv, '--help'], { ...context, out, streams: { ...context.streams, stdout } });
  return printed;
}

function helps(columns: number | undefined): Promise<string[]> {
  const calls = [[], ...COMMANDS.map(({ definition }) => [definition.name])];
  return Promise.all(calls.map(async (argv) => helpOf(columns, ...argv)));
}

describe('the help', () => {
  it.each([80, undefined, 120, 300])('of all commands fits a terminal of %s columns', async (columns) => {
    const most = Math.min(columns ?? 80, 120);
    for (const text of await helps(columns)) {
      // The path of the documents is as long as it is.
      const lines = text.split('\n').filter((line) => !line.startsWith('Documents:'));
      expect(lines.filter((line) => line.length > most || line !== line.trimEnd())).toEqual([]);
    }
  });

  it('has each example on a line of its own, and its meaning beside it or below', async () => {
    expect(await helpOf(120, 'retry')).toMatch(/^ {2}\$ mahabharatha retry {16}all failed tasks$/m);
    expect(await helpOf(80, 'kurukshetra')).toMatch(
      /^ {2}\$ mahabharatha kurukshetra --json > events.ndjson\n {6}one event per line, for programs$/m,
    );
    expect(await helpOf(80)).toMatch(/^ {2}status \[feature\] +show how a run stands/m);
  });
});
