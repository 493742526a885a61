import { libErrors, line, printableJson } from '../../lib/index.ts';
import { mergeRun, openProject } from '../../project/index.ts';
import type { MergedRun } from '../../project/index.ts';
import type { CliContext, InputOf } from '../command.ts';
import type { merge } from '../commands/merge.ts';
import { featureFor } from '../feature-for.ts';
import { hasAllOf } from '../render/merged.ts';
import { proposeFeature } from './propose-feature.ts';
import { showFiles } from './show-files.ts';

/** `merge`: lists what has changed, steering files first. */
export async function mergeFeature(input: InputOf<typeof merge>, context: CliContext): Promise<number> {
  if (input.squash && !input.ff)
    throw libErrors.USAGE({ problem: '--squash and --no-ff do not go together.', hint: 'Leave one of them out.' });
  if (input.pr && (input.squash || !input.ff))
    throw libErrors.USAGE({
      problem: '--pr goes neither with --squash nor with --no-ff.',
      hint: 'How a pull request is merged is said where it is merged.',
    });
  const project = await openProject(context);
  const feature = await featureFor(project, input.feature, 'merge', context);
  if (input.pr) return proposeFeature({ project, feature }, input, context);
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

function inWords(feature: string, { kind, into, commit, status }: MergedRun): string {
  const has = hasAllOf({ feature, status }, [into]);
  switch (kind) {
    case 'already-in':
      return `Nothing to merge: ${has}.`;
    case 'would-merge':
      return `"${feature}" merges into ${into} without conflict. These files would change:`;
    case 'merged':
      return `Merged: ${has}, and is at ${commit.slice(0, 10)}. These files changed:`;
  }
}
