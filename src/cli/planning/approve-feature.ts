import { isThere, line, printableJson } from '../../lib/index.ts';
import { approveRequirements, checkFeatureName, openProject, proposalFor } from '../../project/index.ts';
import type { CliContext, InputOf } from '../command.ts';
import type { approve } from '../commands/approve.ts';
import { standingText } from './plan-requirements.ts';

/** `approve`: the person has read the requirements. */
export async function approveFeature(
  { argument, json }: InputOf<typeof approve>,
  context: CliContext,
): Promise<number> {
  const project = await openProject(context);
  const found = await approveRequirements(project, checkFeatureName(argument ?? ''), new Date());
  const { feature, file, standing, by, at } = found;
  const proposal = proposalFor(file);
  if (await isThere(proposal)) context.err(line`note: ${proposal} was not taken, and is not approved\n`);
  if (json) context.out(line`${printableJson({ type: 'approved', feature, file, standing, by, at })}\n`);
  else context.out(line`${standingText(found)}\n\nNext: mahabharatha design ${feature}\n`);
  return 0;
}
