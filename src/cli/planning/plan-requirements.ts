import { counted, line, printable, printableBlock, printableJson, printableLines } from '../../lib/index.ts';
import type { Printable } from '../../lib/index.ts';
import {
  checkFeatureName,
  configOf,
  openProject,
  planFeature,
  readRequirements,
  readSettings,
} from '../../project/index.ts';
import type { Planned, RequirementsFile } from '../../project/index.ts';
import { askTrust } from '../ask-trust.ts';
import type { CliContext, InputOf } from '../command.ts';
import type { plan } from '../commands/plan.ts';
import { accept } from './accept.ts';
import { askWords } from './ask-words.ts';
import { planFace, tellProblems } from './plan-face.ts';

type Input = InputOf<typeof plan>;

/** `plan`: the requirements of a feature, from a person's words. */
export async function planRequirements(input: Input, context: CliContext): Promise<number> {
  const project = await openProject(context);
  const feature = checkFeatureName(input.argument ?? '');
  if (input.show) return show(await readRequirements(project, feature), input, context);
  const words = await askWords(input, feature, context);
  const settings = await readSettings(project, context, input.mode);
  const config = configOf(project, settings);
  if (!input.withoutAgent) await askTrust(project, settings, input.trustConfig, context);
  const wishes = { agent: input.agent, mode: input.mode, withoutAgent: input.withoutAgent };
  const asked = { project, config, feature, words, wishes, at: new Date(), onProblems: tellProblems(context) };
  const planned = await planFeature(asked, context, planFace(context));
  if (planned.withoutAgent !== null && !input.withoutAgent) context.err(templateText(planned.withoutAgent));
  const file = await accept(planned, project, input, context);
  return show({ ...planned.requirements, file }, input, context, file === planned.proposed);
}

function templateText({ reason, remedy }: NonNullable<Planned['withoutAgent']>): Printable {
  const why = printableBlock(`No agent fills it in, so you get a template with your words: ${reason}.`, '  ');
  return line`${why}\n\n${printableBlock(remedy, '  ')}\n\n`;
}

/** `isProposal`: it is not in its place. */
function show(found: RequirementsFile, { json }: Pick<Input, 'json'>, context: CliContext, isProposal = false): number {
  const { feature, file, standing, by, at, problems, requirements } = found;
  if (json) {
    const facts = { type: 'requirements', feature, file, standing, by, at, problems, requirements };
    context.out(line`${printableJson(facts)}\n`);
    return 0;
  }
  context.out(line`${file}\n${standingText(found)}\n`);
  if (problems.length > 0)
    context.out(
      line`\nBefore it can be approved:\n${printableLines(problems.map((problem) => printable(`  ${problem}`)))}\n`,
    );
  context.out(line`\n${isProposal ? TAKE_IT : ''}${nextStep(found)}\n`);
  return 0;
}

export function standingText({ standing, by, at, requirements }: RequirementsFile): Printable {
  const count = counted(requirements.length, 'requirement');
  const day = at?.slice(0, 10) ?? 'at an unknown time';
  if (standing === 'draft') return line`Draft, ${count}.`;
  const approval = line`Approved by ${by ?? 'someone'} (${day}), ${count}`;
  return standing === 'stale' ? line`${approval}; changed since then.` : line`${approval}.`;
}

/** `approve` and `check` look at what is in its place. */
export const TAKE_IT = 'First take the proposal. ';

function nextStep({ feature, standing, problems }: RequirementsFile): Printable {
  if (problems.length > 0) return line`Edit the file, then: mahabharatha approve ${feature}`;
  return standing === 'approved'
    ? line`Next: mahabharatha design ${feature}`
    : line`Next: mahabharatha approve ${feature}`;
}
