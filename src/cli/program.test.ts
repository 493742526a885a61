import { describe, expect, expectTypeOf, it } from 'vitest';
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
});
