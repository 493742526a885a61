import { asCommand, line, printableJson } from '../../lib/index.ts';
import { openPullRequest, planPullRequest } from '../../project/index.ts';
import type { Project, PullRequest } from '../../project/index.ts';
import type { CliContext, InputOf } from '../command.ts';
import type { merge } from '../commands/merge.ts';
import { hasAllOf } from '../render/merged.ts';
import { showFiles } from './show-files.ts';

type Input = InputOf<typeof merge>;

/** `merge --pr`: says each step before it is done. */
export async function proposeFeature(
  { project, feature }: { readonly project: Project; readonly feature: string },
  input: Input,
  context: CliContext,
): Promise<number> {
  const { into, partial, dryRun, json } = input;
  const plan = await planPullRequest(project, { feature, into, partial, env: context.env });
  const say = (text: string): void => void (json || context.out(line`${text}\n`));
  if (!json) tellPlan(feature, plan, context);
  const ready = !dryRun && plan.kind === 'would-merge';
  const url = ready ? await openPullRequest(project, plan, { env: context.env, say }) : null;
  if (json) {
    const { body: _body, push, open, ...facts } = plan;
    const commands = [push, open].map(asCommand);
    context.out(line`${printableJson({ type: 'pull-request', feature, ...facts, url, commands })}\n`);
  } else if (url !== null) say(`Opened: ${url}`);
  else if (ready) tellByHand(plan, context);
  return 0;
}

function tellPlan(feature: string, plan: PullRequest, context: CliContext): void {
  const { kind, into, status, base, remote, files, steering } = plan;
  if (kind === 'already-in') return context.out(line`Nothing to merge: ${hasAllOf({ feature, status }, [into])}.\n`);
  context.out(line`A pull request for "${feature}" into ${base} of ${remote}. These files would change:\n`);
  showFiles(files, steering, context);
}

function tellByHand({ push, open }: PullRequest, { out }: CliContext): void {
  out(line`GitHub's program gh is not on the PATH, so nothing was pushed. By hand:\n`);
  for (const command of [push, open]) out(line`  ${asCommand(command)}\n`);
}
