import { isThere, line, printableJson } from '../../lib/index.ts';
import { findRequirements, graphPlace } from '../../project/index.ts';
import type { Project } from '../../project/index.ts';
import type { CliContext } from '../command.ts';
import { standingText } from './plan-requirements.ts';

/** How a feature stands that has no run yet; false when it has no requirements either. */
export async function showPlanning(
  project: Project,
  feature: string,
  { json }: { readonly json: boolean },
  context: CliContext,
): Promise<boolean> {
  const found = await findRequirements(project, feature);
  if (found === undefined) return false;
  const hasGraph = await isThere(await graphPlace(project, feature));
  const { standing, by, at, problems } = found;
  if (json) {
    const requirements = { standing, by, at, problems };
    context.out(line`${printableJson({ type: 'planning', feature, requirements, graph: hasGraph })}\n`);
    return true;
  }
  const next = hasGraph
    ? line`mahabharatha kurukshetra --feature ${feature}`
    : line`mahabharatha ${standing === 'approved' ? 'design' : 'approve'} ${feature}`;
  context.out(line`${feature}: no run yet.\n`);
  context.out(
    line`Requirements: ${standingText(found)}\nTask graph: ${hasGraph ? 'there' : 'none'}\n\nNext: ${next}\n`,
  );
  return true;
}
