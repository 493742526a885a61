import { finished } from 'node:stream/promises';
import { endOf, killGroup, within } from '../../lib/index.ts';
import type { Environment } from '../../lib/index.ts';
import type { Execution, ProgramWish } from '../engine.ts';
import { engineErrors } from '../errors.ts';
import type { Cli } from './cli.ts';
import { withoutVariables } from './container-arguments.ts';
import { inspectContainer } from './inspect.ts';

/** The program may hang after the output is over. */
const LAST_WORDS_MS = 5000;

export async function execute(cli: Cli, id: string, wish: ProgramWish): Promise<Execution> {
  const call = `run a program in container ${id}`;
  if (wish.terminal !== null)
    throw engineErrors.ENGINE_FAILED({ call, reason: 'Apple\'s "container" opens terminals for its own one alone' });
  // Old versions take a part of a name for the name.
  if ((await inspectContainer(cli, id))?.status !== 'running')
    throw engineErrors.ENGINE_FAILED({ call, reason: `container ${id} is not running` });
  const { args, env } = variables(wish.env);
  const command = withoutVariables(wish.command, wish.env);
  const child = cli.talk(['exec', '--interactive', '--workdir', wish.workdir, ...args, id, ...command], env);
  const end = endOf(child, cli.place).then(
    ({ code }) => code,
    () => null,
  );
  const { stdin, stdout, stderr } = child;
  const close = (): void => {
    for (const stream of [stdin, stdout, stderr]) stream.destroy();
    killGroup(child.pid, 'SIGKILL');
  };
  return {
    stdin,
    stdout,
    stderr,
    close,
    resize: () => Promise.resolve(),
    exit: async () => {
      await Promise.allSettled([stdout, stderr].map((stream) => finished(stream, { writable: false })));
      const code = await within(LAST_WORDS_MS, end);
      if (code === undefined) close();
      return code ?? null;
    },
  };
}

/** Variables that the program itself obeys; none of them is a secret. */
const ITS_OWN = /^(PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|LANG|LC_\w+|TERM|DYLD_\w+|CONTAINER_\w+)$/;

/** The program takes a value from its own environment, where no argument list shows it. */
function variables(wished: ProgramWish['env']): { readonly args: string[]; readonly env: Environment } {
  const set = Object.entries(wished).flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
  return {
    args: set.flatMap(([name, value]) => ['--env', ITS_OWN.test(name) ? `${name}=${value}` : name]),
    env: Object.fromEntries(set.filter(([name]) => !ITS_OWN.test(name))),
  };
}
