import type { Config } from '../../config/index.ts';
import type { Engine, EngineInfo } from '../../engines/index.ts';
import { inBytes } from '../../lib/index.ts';
import {
  checkObjects,
  engineProblem,
  enginePrograms,
  imageRequest,
  reasonsForContainers,
  shortages,
} from '../../project/index.ts';
import type { Project } from '../../project/index.ts';
import type { CliContext } from '../command.ts';
import { checkOverlays } from './examine-overlays.ts';
import { attempt, checked, fine } from './finding.ts';
import type { Finding } from './finding.ts';

export interface ContainerFindings {
  readonly findings: readonly Finding[];
  /** A run would use containers, or be refused. */
  readonly inside: boolean;
  /** Where the engine listens; null when there is none. */
  readonly endpoint: string | null;
  /** Null when none answers. */
  readonly engine: Engine | null;
}

export interface Asked {
  /** Undefined when there is no configuration, and none is asked for. */
  readonly mode: Config['workers']['mode'] | undefined;
  readonly workers?: Config['workers'] | undefined;
  readonly project?: Project;
}

/** A missing engine or image is bad where a run would be refused for it; elsewhere it is a note. */
export async function examineContainers(
  { mode, workers, project }: Asked,
  context: CliContext,
): Promise<ContainerFindings> {
  const { searchEngine } = await import('../../engines/index.ts');
  const search = await attempt('engine', () => searchEngine(context.env));
  if ('problem' in search) return { findings: [search.problem], inside: true, ...NONE };
  const { engine, lines, silent } = search.value;
  const meant = project && workers ? await reasonsForContainers(project, workers, context) : [];
  const signs = [...meant, ...silent, ...(await enginePrograms(context.env))];
  const inside = isInside(mode, engine !== undefined || signs.length > 0);
  const missing = inside ? 'bad' : 'note';
  if (engine === undefined) {
    const remedy = `Start Docker (Linux: sudo systemctl start docker; macOS: open -a Docker), or say where it is with DOCKER_HOST.${inside ? '' : ' Without one, tasks with a "run" command run with your own rights, and an agent does only with --mode subprocess.'}`;
    return { findings: [{ what: 'engine', state: missing, found: lines.join('\n'), remedy }], inside, ...NONE };
  }
  const reached = await attempt('engine', () => engine.info());
  if ('problem' in reached) return { findings: [{ ...reached.problem, state: missing }], inside, ...NONE };
  const info = reached.value;
  const findings = [
    engineFinding(engine.name, info, missing),
    ...(await lacksFindings(info)),
    await checked('image', () => checkImage(engine, context, missing), missing),
  ];
  const objects = await attempt('objects', async () => project && checkObjects(project.repository, context.env));
  if ('problem' in objects) findings.push({ ...objects.problem, state: missing });
  if (workers !== undefined) findings.push(limitsFinding(workers, info, missing));
  if (workers !== undefined && project !== undefined && engineProblem(info) === undefined)
    findings.push(await checkOverlays({ project, engine, info, container: workers.container }, context));
  return { findings, inside, endpoint: info.endpoint, engine };
}

const NONE = { endpoint: null, engine: null };

/** Pure. Without a configuration there is no mode, so nothing is refused. */
function isInside(mode: Config['workers']['mode'] | undefined, anySign: boolean): boolean {
  return mode === 'container' || (mode === 'auto' && anySign);
}

type Missing = 'bad' | 'note';

export function engineFinding(name: string, info: EngineInfo, missing: Missing): Finding {
  const found = `${name} ${info.version} at ${info.endpoint}`;
  const problem = engineProblem(info);
  if (problem === undefined) return fine('engine', found);
  return {
    what: 'engine',
    state: missing,
    found: `${found}: it ${problem}`,
    remedy: 'Name another engine with DOCKER_HOST, or let workers be subprocesses.',
  };
}

/** What the engine is without is said: a wish for it is not obeyed. */
async function lacksFindings({ lacks }: Pick<EngineInfo, 'lacks'>): Promise<Finding[]> {
  if (lacks.length === 0) return [];
  const { LACKS } = await import('../../engines/index.ts');
  const found = lacks.map((lack) => `it ${LACKS[lack]}`).join('\n');
  return [{ what: 'engine lacks', state: 'note', found, remedy: 'docs/engines.md says what that means.' }];
}

async function checkImage(engine: Engine, context: CliContext, missing: Missing): Promise<Finding> {
  const { findRunImage, PRUNE_COMMAND } = await import('../../images/index.ts');
  const { kind, state } = await findRunImage(engine, await imageRequest(context));
  const which = kind === 'worker' ? 'the worker image' : "the repository's image";
  switch (state.state) {
    case 'fresh':
      return fine('image', state.tag);
    case 'stale': {
      const what = `${which} is stale: ${state.reasons.join('; ')}`;
      const remedy = `A run builds it anew; or: mahabharatha build. Images that no container uses go with: ${PRUNE_COMMAND}`;
      return { what: 'image', state: 'note', found: what, remedy };
    }
    case 'missing':
      return {
        what: 'image',
        state: missing,
        found: `${which} is not built`,
        remedy: 'Build it with: mahabharatha build — or let a run do it with --auto-build',
      };
  }
}

const DOCKER_INFO = 'See what is missing with: docker info (of an engine that is not Docker, see above).';

/** Pure. Whether the engine can give workers the configured resources, and limit them. */
export function limitsFinding(
  { count, container }: Pick<Config['workers'], 'count' | 'container'>,
  { cpus, memoryBytes, limits, runtimes }: Pick<EngineInfo, 'cpus' | 'memoryBytes' | 'limits' | 'runtimes'>,
  missing: Missing,
): Finding {
  const unlimited = (['memory', 'cpus', 'pids'] as const).filter((name) => !limits[name]);
  const { runtime, memory } = container;
  const short = shortages(count, container, { cpus, memoryBytes });
  const trouble = [
    runtime !== undefined && !runtimes.includes(runtime)
      ? [`there is no runtime "${runtime}", but ${runtimes.join(', ')}`, 'Mend workers.container.runtime.', missing]
      : undefined,
    unlimited.length > 0 ? [`the engine cannot limit ${unlimited.join(', ')} of containers`, DOCKER_INFO] : undefined,
    ...short.map(({ found, remedy }) => [found, remedy]),
  ].filter((one) => one !== undefined);
  if (trouble.length === 0) {
    const worker = `${inBytes(memory)}, ${container.cpus} CPUs, ${container.pids} processes`;
    return fine(
      'limits',
      `${count} workers with up to ${worker} each; the engine has ${inBytes(memoryBytes)}, ${cpus} CPUs`,
    );
  }
  return {
    what: 'limits',
    state: trouble.some(([, , state]) => state === 'bad') ? 'bad' : 'note',
    found: trouble.map(([found]) => found).join('\n'),
    remedy: trouble.map(([, remedy]) => remedy).join(' '),
  };
}
