import { line } from '../../lib/index.ts';
import { configOf, openProject, openShell, readSettings } from '../../project/index.ts';
import { askTrust } from '../ask-trust.ts';
import type { CliContext, InputOf } from '../command.ts';
import type { shell } from '../commands/shell.ts';
import { featureFor } from '../feature-for.ts';
import { plainView } from '../render/build-view.ts';
import { attach } from './attach.ts';

/** Of a program that was killed, also with its container. */
const KILLED = 137;

/** `shell`: a program of the user's in a container. Its exit status is that of the program. */
export async function enterContainer(input: InputOf<typeof shell>, context: CliContext): Promise<number> {
  const project = await openProject(context);
  const feature = await featureFor(project, input.feature, 'see', context);
  const settings = await readSettings(project, context, 'container');
  await askTrust(project, settings, input.trustConfig, context);
  const asked = { project, config: configOf(project, settings), feature, target: input.argument ?? '' };
  const build = plainView({ ...context, out: context.err, terminal: false });
  const opened = await openShell(asked, context, { mode: () => undefined, build });
  try {
    for (const text of opened.said) context.err(line`${text}\n`);
    const exit = await attach(opened, input.rest, context);
    if (exit !== null && exit !== KILLED) return exit;
    context.err(line`\n${opened.killed}\n`);
    return KILLED;
  } finally {
    await opened.close();
  }
}
