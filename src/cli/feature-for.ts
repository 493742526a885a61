import { line } from '../lib/index.ts';
import type { FeatureUse, Project } from '../project/index.ts';
import type { CliContext } from './command.ts';

/** The feature that a command is about. One that was chosen among several is told on stderr, with the reason. */
export async function featureFor(
  project: Project,
  named: string | undefined,
  use: FeatureUse,
  { err }: Pick<CliContext, 'err'>,
): Promise<string> {
  const { feature, because } = await project.feature(named, use);
  if (because !== null) err(line`note: feature ${feature}, because ${because}\n`);
  return feature;
}
