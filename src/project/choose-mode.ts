import { engineErrors } from '../engines/errors.ts';
import type { Engine, EngineInfo } from '../engines/index.ts';
import type { RunImage } from '../images/index.ts';
import { findProgram, libErrors } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import { agentName } from '../protocol/index.ts';
import type { RunState } from '../state/index.ts';
import { makeImages } from './build-images.ts';
import { askRules } from './container-network.ts';
import { decideImage, decideResumed, decideWithoutEngine, engineProblem } from './decide-mode.ts';
import type { ImageDecision, Mode, ModeLine, ModeReason } from './decide-mode.ts';
import { projectErrors } from './errors.ts';
import { runImageRequest } from './image-request.ts';
import { reasonsForContainers } from './reasons-for-containers.ts';
import type { UsedAgent } from './run-agents.ts';
import { runCommand } from './run-command.ts';
import type { RunFace, RunHost } from './run-face.ts';
import type { RunRequest } from './run-request.ts';
import { checkObjects } from './worker-users.ts';

type ModeFace = Pick<RunFace, 'mode' | 'build'>;

/** A request, and the agents that its tasks ask. */
interface ModeRequest extends RunRequest {
  readonly used: readonly UsedAgent[];
}

/** What the choice depends on. */
interface ModeWish extends ModeRequest, ModeReason {
  /** Why containers are meant in this repository. */
  readonly meant: readonly string[];
}

/**
 * Chooses what the workers of a run will run in, and builds a stale image. `container` takes nothing else; `auto` takes
 * subprocesses only where containers are neither available nor meant.
 */
export async function chooseMode(
  request: ModeRequest,
  known: RunState | undefined,
  host: RunHost,
  face: ModeFace,
): Promise<Mode> {
  const meant = await reasonsForContainers(request.project, request.config.workers, host);
  const wish = { ...request, meant, ...wishedMode(request, meant, known) };
  const { wished, because } = wish;
  switch (wished) {
    case 'subprocess':
      return { name: 'subprocess', wished, because };
    case 'container':
    case 'auto':
      return findContainers(wish, host, face);
    default:
      throw libErrors.USAGE({
        problem: `--mode ${wished} is not known.`,
        hint: 'Use auto, subprocess or container.',
      });
  }
}

/** A resumed run keeps its agent unless another one is named. */
export function agentOf({ config, wishes }: RunRequest, known: RunState | undefined): string {
  return wishes.agent ?? known?.settings.agent ?? config.agent;
}

/** A resumed run keeps its mode, also when the engine is gone today. */
function wishedMode(
  { config, graph, wishes }: RunRequest,
  meant: readonly string[],
  known: RunState | undefined,
): ModeReason {
  if (wishes.mode !== undefined && wishes.mode !== 'auto') return { wished: wishes.mode, because: '--mode says so' };
  const wished = wishes.mode ?? config.workers.mode;
  if (wished !== 'auto') return { wished, because: 'workers.mode in .mahabharatha/config.yaml says so' };
  if (known === undefined) return { wished, because: '' };
  return { wished: decideResumed(graph.feature, known.settings, meant), because: 'the run was begun so' };
}

async function findContainers(wish: ModeWish, host: RunHost, face: ModeFace): Promise<Mode> {
  const { searchEngine } = await import('../engines/index.ts');
  const { engine, tried, silent } = await searchEngine(host.env);
  if (engine !== undefined) return withEngine(wish, engine, host, face);
  if (wish.wished !== 'auto') throw engineErrors.ENGINE_UNREACHABLE({ tried });
  const { meant } = wish;
  const unconfined = wish.used.filter(({ spec }) => spec.kind !== 'shell');
  const signs = [...silent, ...(await enginePrograms(host.env))];
  return {
    name: 'subprocess',
    wished: 'auto',
    because: decideWithoutEngine({
      meant,
      agents: unconfined.map(({ spec }) => agentName(spec)),
      agentTasks: unconfined.flatMap(({ tasks }) => tasks).length,
      signs,
      tried,
    }),
  };
}

/** A machine with one of these programs has, or had, an engine. */
export async function enginePrograms(env: Environment): Promise<string[]> {
  const found = await Promise.all(['docker', 'podman'].map((name) => findProgram(name, env)));
  return found.flatMap((file) => (file === undefined ? [] : [`${file} is on this machine`]));
}

async function withEngine(wish: ModeWish, engine: Engine, host: RunHost, face: ModeFace): Promise<Mode> {
  const { project, config, used, wishes } = wish;
  const { findRunImage } = await import('../images/index.ts');
  const rules = askRules({ config, used, env: host.env, repository: project.repository.root });
  // An error is thrown where the rules are used.
  rules?.catch(() => undefined);
  const [info] = await Promise.all([checkedInfo(engine), checkObjects(project.repository, host.env)]);
  const request = runImageRequest(host, project, config);
  const found = await findRunImage(engine, request);
  const decision = decideImage(found, { autoBuild: wishes.autoBuild ?? false, command: runCommand(wish) });
  const line: ModeLine = { name: 'container', wished: wish.wished, because: becauseOf(wish, decision) };
  const mode = { ...line, name: 'container', engine, info, rules } as const;
  if (decision.do === 'take') return { ...mode, ...freshImages(found) };
  if (wishes.dryRun) return { ...mode, image: nameOf(found), workerImage: nameOf(found) };
  face.mode(line, []);
  await makeImages(engine, { ...request, noCache: false, signal: host.interrupted }, face.build);
  return { ...mode, ...freshImages(await findRunImage(engine, request)) };
}

function becauseOf({ wished, because }: ModeReason, decision: ImageDecision): string {
  const anew = decision.do === 'build' ? `the image is built anew: ${decision.because}` : undefined;
  if (wished === 'auto')
    return anew === undefined ? 'an engine and a fresh image are there' : `an engine is there; ${anew}`;
  return anew === undefined ? because : `${because}; ${anew}`;
}

const nameOf = ({ state }: RunImage): string => (state.state === 'missing' ? 'not built yet' : state.tag);

function freshImages({ kind, state, workerId }: RunImage): { image: string; workerImage: string } {
  if (state.state === 'fresh' && workerId !== null) return { image: state.tag, workerImage: workerId };
  throw libErrors.INTERNAL({
    what: `the ${kind} image is ${state.state}, its worker image ${workerId ?? 'not fresh'}`,
  });
}

async function checkedInfo(engine: Engine): Promise<EngineInfo> {
  const info = await engine.info();
  const problem = engineProblem(info);
  if (problem === undefined) return info;
  const reason = `the engine at ${info.endpoint} ${problem}`;
  throw projectErrors.MODE_UNAVAILABLE({ mode: 'container', reason });
}
