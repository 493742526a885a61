import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parseConfig, withEnvironment } from '../../config/index.ts';
import type { McpSettings } from '../../config/index.ts';
import { asAppError, line } from '../../lib/index.ts';
import { configOf, projectIfAny, readSettings } from '../../project/index.ts';
import type { Project, Settings } from '../../project/index.ts';
import type { CliContext } from '../command.ts';
import { namedConfig } from '../serve/listening.ts';

type Context = Pick<CliContext, 'cwd' | 'env' | 'err'>;

const DEFAULTS = parseConfig('', undefined).mcp;

/**
 * Of the named file, or of the repository, with those of the environment in their place. A client starts the server in any
 * folder, and nobody is there to be asked: what the user has not approved does not count.
 */
export async function mcpSettings(file: string | undefined, context: Context): Promise<McpSettings> {
  const { cwd, env } = context;
  const settings = file === undefined ? await ofRepository(context) : (await namedConfig(path.resolve(cwd, file))).mcp;
  return withEnvironment(settings, env);
}

async function ofRepository({ cwd, env, err }: Context): Promise<McpSettings> {
  try {
    const project = await projectIfAny({ cwd, env });
    if (project === null) return DEFAULTS;
    const settings = await readSettings(project, { env }, 'subprocess');
    if (settings.changes.every(({ file }) => file !== 'config.yaml')) return configOf(project, settings).mcp;
    if (isMeant(project, settings))
      err(
        line`The section "mcp" of ${project.paths.config} does not count, because you have not approved that file. Name it with --config, and it does.\n`,
      );
  } catch (error) {
    const { message } = asAppError(error);
    err(line`The settings of the repository do not count: ${message}\n`);
  }
  return DEFAULTS;
}

/** Whether the settings that are not approved would make a difference. */
function isMeant(project: Project, settings: Settings): boolean {
  try {
    return !isDeepStrictEqual(configOf(project, settings).mcp, DEFAULTS);
  } catch {
    return true;
  }
}
