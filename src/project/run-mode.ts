import { lstat } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../config/index.ts';
import { systemCode } from '../lib/index.ts';
import type { TaskGraph } from '../tasks/index.ts';
import { makeImages } from './build-images.ts';
import { checkObjects } from './check-objects.ts';
import { chooseMode } from './choose-mode.ts';
import type { Mode } from './choose-mode.ts';
import { hasRunInContainers } from './container-memory.ts';
import { askRules } from './container-network.ts';
import { decideResumed } from './decide-mode.ts';
import { imageRequest } from './image-request.ts';
import type { Place, Project } from './project.ts';
import type { RunFace, RunHost } from './run-listener.ts';
import type { RunWishes } from './run-wishes.ts';

interface ModeQuestion {
  readonly project: Project;
  readonly config: Config;
  readonly graph: TaskGraph;
  readonly wishes: RunWishes;
}

/** What the workers of a run will run in; builds a stale image when that needs no question. */
export async function modeOfRun(question: ModeQuestion, host: RunHost, face: RunFace): Promise<Mode> {
  const { project, config, graph, wishes } = question;
  const meant = await reasonsForContainers(project, config.workers, host);
  const agent = wishes.agent ?? config.agent;
  const agentTasks = agent === 'shell' ? 0 : graph.tasks.filter((task) => task.run === null).length;
  return chooseMode({
    ...(await wishedMode(question, meant)),
    repository: { meant, agent, agentTasks },
    env: host.env,
    request: () => imageRequest(host),
    check: () => checkObjects(project.repository, host.env),
    rules: () => askRules(config.workers, host.env, project.repository.root),
    autoBuild: wishes.autoBuild ?? false,
    build: wishes.dryRun
      ? null
      : async (engine, request, line) => {
          face.mode(line, []);
          await makeImages(engine, { ...request, noCache: false, signal: host.interrupted }, face.build);
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
  { env }: Pick<Place, 'env'>,
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
