import { lstat } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../config/index.ts';
import { systemCode } from '../../lib/index.ts';
import type { TaskGraph } from '../../tasks/index.ts';
import { buildForRun, imageRequest } from '../images/build-image.ts';
import type { Wishes } from './build-wishes.ts';
import { askRules, checkObjects, chooseMode, decideResumed, hasRunInContainers } from '../../project/index.ts';
import type { Mode, Project } from '../../project/index.ts';
import type { CliContext } from '../command.ts';
import type { ModeTeller } from '../render/mode-line.ts';

interface ModeQuestion {
  readonly project: Project;
  readonly config: Config;
  readonly graph: TaskGraph;
  readonly wishes: Wishes;
}

/** What the workers of a run will run in; builds a stale image when that needs no question. */
export async function modeOfRun(question: ModeQuestion, context: CliContext, tell: ModeTeller): Promise<Mode> {
  const { project, config, graph, wishes } = question;
  const meant = await reasonsForContainers(project, config.workers, context);
  const agent = wishes.agent ?? config.agent;
  const agentTasks = agent === 'shell' ? 0 : graph.tasks.filter((task) => task.run === null).length;
  return chooseMode({
    ...(await wishedMode(question, meant)),
    repository: { meant, agent, agentTasks },
    env: context.env,
    request: () => imageRequest({}, context),
    check: () => checkObjects(project.repository, context.env),
    rules: () => askRules(config.workers, context.env, project.repository.root),
    autoBuild: wishes.autoBuild,
    build: wishes.dryRun
      ? null
      : async (engine, request, line) => {
          tell(line, []);
          await buildForRun(engine, request, context);
        },
  });
}

/** A resumed run keeps its mode, also when the engine is gone today. */
async function wishedMode(
  { project, config, graph, wishes }: ModeQuestion,
  meant: readonly string[],
): Promise<{ readonly mode: string; readonly because: string }> {
  if (wishes.mode !== undefined && wishes.mode !== 'auto') return { mode: wishes.mode, because: '--mode says so' };
  const mode = wishes.mode ?? config.workers.mode;
  if (mode !== 'auto') return { mode, because: 'workers.mode in .mahabharatha/config.yaml says so' };
  const begun = wishes.resume ? (await project.store(graph.feature).read())?.settings.mode : undefined;
  if (begun === undefined) return { mode, because: '' };
  return { mode: decideResumed(graph.feature, begun, meant), because: 'the run was begun so' };
}

/** Why workers of this repository are meant to be in containers, in words; without a reason, empty. */
export async function reasonsForContainers(
  { repository, paths }: Project,
  workers: Config['workers'],
  { env }: Pick<CliContext, 'env'>,
): Promise<string[]> {
  const [known, described] = await Promise.all([
    hasRunInContainers(repository.commonDir, env),
    isThere(path.join(paths.top, 'Dockerfile')),
  ]);
  return [
    ...(known ? ['this repository has run in containers on this machine'] : []),
    ...(workers.asksForContainers ? ['its configuration sets workers.container, or workers.mode to container'] : []),
    ...(described ? ['it describes an image of its own: .mahabharatha/Dockerfile'] : []),
  ];
}

/** What cannot be looked at may be there. */
function isThere(file: string): Promise<boolean> {
  return lstat(file).then(
    () => true,
    (error: unknown) => systemCode(error) !== 'ENOENT',
  );
}
