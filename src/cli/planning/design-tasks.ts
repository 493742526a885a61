import { counted, line, printableJson } from '../../lib/index.ts';
import {
  checkFeatureName,
  configOf,
  designFeature,
  openProject,
  readRequirements,
  readSettings,
} from '../../project/index.ts';
import type { Designed } from '../../project/index.ts';
import { askTrust } from '../ask-trust.ts';
import type { CliContext, InputOf } from '../command.ts';
import type { design } from '../commands/design.ts';
import { accept } from './accept.ts';
import { planFace, tellProblems } from './plan-face.ts';
import { TAKE_IT } from './plan-requirements.ts';

type Input = InputOf<typeof design>;

/** `design`: from approved requirements to a task graph. */
export async function designTasks(input: Input, context: CliContext): Promise<number> {
  const project = await openProject(context);
  const requirements = await readRequirements(project, checkFeatureName(input.argument ?? ''));
  const { feature, standing } = requirements;
  const settings = await readSettings(project, context, input.mode);
  const config = configOf(project, settings);
  await askTrust(project, settings, input.trustConfig, context);
  if (standing !== 'approved' && input.force)
    context.err(line`WARNING: designed without an approval: the requirements of "${feature}" are ${standing}.\n`);
  const wishes = { agent: input.agent, mode: input.mode, force: input.force };
  const designed = await designFeature(
    { project, config, requirements, wishes, onProblems: tellProblems(context) },
    context,
    planFace(context),
  );
  const files = {
    design: await accept(designed.design, project, input, context),
    graph: await accept(designed.graph, project, input, context),
  };
  if (input.json) context.out(line`${printableJson({ type: 'design', feature, ...files, ...factsOf(designed) })}\n`);
  else tell(feature, designed, files, context);
  return 0;
}

const factsOf = ({ tasks, coverage, warnings }: Designed): object => ({
  tasks,
  covered: Object.fromEntries(coverage.covered),
  leftOut: coverage.leftOut,
  warnings,
});

function tell(
  feature: string,
  { tasks, coverage, warnings, graph }: Designed,
  files: { readonly design: string; readonly graph: string },
  context: CliContext,
): void {
  const { covered, leftOut } = coverage;
  for (const warning of warnings) context.err(line`note: ${warning}\n`);
  const done = covered.size - leftOut.length;
  context.out(line`${files.design}\n${files.graph}\n`);
  context.out(line`${counted(tasks, 'task')}; ${done} of ${counted(covered.size, 'requirement')} covered.\n`);
  if (leftOut.length > 0) context.out(line`Not covered, as the design says: ${leftOut.join(', ')}\n`);
  const first = files.graph === graph.proposed ? TAKE_IT : '';
  context.out(line`\n${first}Next: mahabharatha check ${feature}\n`);
}
