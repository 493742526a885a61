import { libErrors, line, printableJson } from '../../lib/index.ts';
import { mergeRun, openProject } from '../../project/index.ts';
import type { MergedRun, SteeringChange } from '../../project/index.ts';
import type { CliContext, InputOf } from '../command.ts';
import type { merge } from '../commands/merge.ts';
import { featureFor } from '../feature-for.ts';

const SHOWN_FILES = 30;

/** `merge`: lists what has changed, steering files first. */
export async function mergeFeature(input: InputOf<typeof merge>, context: CliContext): Promise<number> {
  if (input.squash && !input.ff)
    throw libErrors.USAGE({ problem: '--squash and --no-ff do not go together.', hint: 'Leave one of them out.' });
  const project = await openProject(context);
  const feature = await featureFor(project, input.feature, 'merge', context);
  const merged = await mergeRun(project, {
    feature,
    into: input.into,
    partial: input.partial,
    squash: input.squash,
    dryRun: input.dryRun,
    env: context.env,
  });
  if (input.json) {
    context.out(line`${printableJson({ type: 'merge', feature, ...merged })}\n`);
    return 0;
  }
  context.out(line`${inWords(feature, merged)}\n`);
  showFiles(merged.files, merged.steering, context);
  if (merged.kind === 'merged') context.out(line`Clean up with: mahabharatha cleanup --feature ${feature}\n`);
  return 0;
}

/** Steering files are all listed: many other files must not hide one. */
function showFiles(
  files: readonly string[],
  steering: readonly SteeringChange[],
  { out }: Pick<CliContext, 'out'>,
): void {
  if (steering.length > 0) out(line`Look at these first: tools, or later runs, obey them.\n`);
  for (const { file, what } of steering) out(line`  ${file}  (${what})\n`);
  const listed = new Set(steering.map(({ file }) => file));
  const others = files.filter((file) => !listed.has(file));
  if (steering.length > 0 && others.length > 0) out(line`Beside them:\n`);
  for (const file of others.slice(0, SHOWN_FILES)) out(line`  ${file}\n`);
  if (others.length > SHOWN_FILES) out(line`  … and ${others.length - SHOWN_FILES} more\n`);
}

function inWords(feature: string, { kind, into, commit }: MergedRun): string {
  switch (kind) {
    case 'already-in':
      return `${into} already has everything of "${feature}".`;
    case 'would-merge':
      return `"${feature}" merges into ${into} without conflict. These files would change:`;
    case 'merged':
      return `Merged "${feature}" into ${into}, now at ${commit.slice(0, 10)}. These files changed:`;
  }
}
