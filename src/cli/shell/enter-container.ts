import { line, sleep } from '../../lib/index.ts';
import { configOf, openProject, openShell, readSettings } from '../../project/index.ts';
import type { OpenShell } from '../../project/index.ts';
import { askTrust } from '../ask-trust.ts';
import type { CliContext, InputOf } from '../command.ts';
import type { shell } from '../commands/shell.ts';
import { plainView } from '../render/build-view.ts';
import { attach } from './attach.ts';

/** Of a shell whose container was ended, as of a program that was killed. */
const KILLED = 137;
const LOOKS = 40;
const LOOK_MS = 50;

/** `shell`: a program of the user's in a container. Its exit status is that of the program. */
export async function enterContainer(input: InputOf<typeof shell>, context: CliContext): Promise<number> {
  const project = await openProject(context);
  const feature = await project.feature(input.feature);
  const settings = await readSettings(project, context, 'container');
  await askTrust(project, settings, input.trustConfig, context);
  const asked = { project, config: configOf(project, settings), feature, target: input.argument ?? '' };
  const build = plainView({ ...context, out: context.err, terminal: false });
  const opened = await openShell(asked, context, { mode: () => undefined, build });
  try {
    for (const text of opened.said) context.err(line`${text}\n`);
    const exit = await attach(opened, input.rest, context);
    if (exit !== null && exit !== KILLED) return exit;
    if (await isOver(opened)) context.err(line`\nIts container has ended.\n`);
    return KILLED;
  } finally {
    await opened.close();
  }
}

/** An engine may know the end of a program before that of its container. */
async function isOver({ isThere }: Pick<OpenShell, 'isThere'>): Promise<boolean> {
  for (let look = 0; look < LOOKS; look += 1) {
    if (!(await isThere())) return true;
    await sleep(LOOK_MS);
  }
  return false;
}
