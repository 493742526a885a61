import path from 'node:path';
import type { Config } from '../config/index.ts';
import { gitErrors } from '../git/errors.ts';
import type { ImageRequest } from '../images/index.ts';
import { hasCode, isThere } from '../lib/index.ts';
import { isKnownName } from '../protocol/index.ts';
import type { KnownAgent } from '../protocol/index.ts';
import { packageRoot } from './package-files.ts';
import { openProject } from './project.ts';
import type { Place, Project } from './project.ts';

/** Where a command was called, and the version of this package. */
export interface Host extends Place {
  readonly version: string;
}

/** What images are built from. Null: the base of the last build, the platform of the engine. */
export async function imageRequest(
  host: Host,
  { base = null, platform = null }: Partial<Pick<ImageRequest, 'base' | 'platform'>> = {},
): Promise<ImageRequest> {
  const project = await projectIfAny(host);
  const request = packageImageRequest(host, { base, platform });
  return project === null ? request : { ...request, ...ofProject(project, await project.config()) };
}

/** The same for the workers of a run. */
export function runImageRequest(host: Pick<Host, 'version' | 'env'>, project: Project, config: Config): ImageRequest {
  return { ...packageImageRequest(host, { base: null, platform: null }), ...ofProject(project, config) };
}

const ofProject = ({ paths }: Project, config: Config): Pick<ImageRequest, 'project' | 'agents'> => ({
  project: paths.top,
  agents: imageAgents(config),
});

/** Pure. The agents that the worker image has: those that the configuration names, else the one that it asks. */
function imageAgents({ agent, workers }: Pick<Config, 'agent' | 'workers'>): readonly KnownAgent[] {
  return workers.container.agents ?? [isKnownName(agent) ? agent : 'claude'];
}

/** The same for images that have nothing of a repository, wherever the command was called. */
export function packageImageRequest(
  { version, env }: Pick<Host, 'version' | 'env'>,
  { base, platform }: Pick<ImageRequest, 'base' | 'platform'>,
): ImageRequest {
  return { packageRoot: packageRoot(), version, env, project: null, agents: ['claude'], base, platform };
}

/** Null outside a repository: the worker image needs none, and no git. */
export async function projectIfAny(place: Place): Promise<Project | null> {
  try {
    return await openProject(place);
  } catch (error) {
    if (hasCode(error, gitErrors.NOT_A_REPOSITORY)) return null;
    if (hasCode(error, gitErrors.GIT_MISSING) && !(await isBelowRepository(place.cwd))) return null;
    throw error;
  }
}

async function isBelowRepository(folder: string): Promise<boolean> {
  if (await isThere(path.join(folder, '.git'))) return true;
  const above = path.dirname(folder);
  return above !== folder && isBelowRepository(above);
}
