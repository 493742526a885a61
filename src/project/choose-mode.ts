import { engineErrors } from '../engines/errors.ts';
import type { Engine, EngineInfo } from '../engines/index.ts';
import type { EgressRules } from '../egress/rules/index.ts';
import type { ImageRequest, RunImage } from '../images/index.ts';
import { libErrors } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import { findProgram } from './check-agent.ts';
import { decideImage, decideWithoutEngine } from './decide-mode.ts';
import type { EngineAbsence } from './decide-mode.ts';
import { projectErrors } from './errors.ts';

/** What workers will run in, and why. */
export type Mode = ModeReason &
  (
    | { readonly name: 'subprocess' }
    | {
        readonly name: 'container';
        readonly engine: Engine;
        readonly info: EngineInfo;
        /** What workers run in. */
        readonly image: string;
        /** The worker image by its id, which nothing of the repository is in. */
        readonly workerImage: string;
        /** What workers may reach; the user's npm is asked for it while the image is looked for. Null without a proxy. */
        readonly rules: Promise<EgressRules> | null;
      }
  );

export interface ModeReason {
  /** "auto", when the choice was ours. */
  readonly wished: string;
  readonly because: string;
}

export interface ModeWish {
  readonly mode: string;
  /** Who says so, in words: "--mode says so". */
  readonly because: string;
  /** What the choice depends on when no engine answers. */
  readonly repository: Pick<EngineAbsence, 'meant' | 'agent' | 'agentTasks'>;
  readonly env: Environment;
  readonly request: () => Promise<ImageRequest>;
  /** Throws when something of the repository speaks against containers. */
  readonly check: () => Promise<void>;
  /** Begins to find out what workers may reach. */
  readonly rules: () => Promise<EgressRules> | null;
  /** `--auto-build`: also the first image of all. */
  readonly autoBuild: boolean;
  /** Null in a dry run. The mode is told before anything is built. */
  readonly build: ((engine: Engine, request: ImageRequest, mode: ModeLine) => Promise<void>) | null;
}

/** The first line that a run prints. */
export type ModeLine = ModeReason & Pick<Mode, 'name'>;

/** `container` insists; `auto` never goes without containers where they could be had, or are meant. */
export async function chooseMode(wish: ModeWish): Promise<Mode> {
  const { mode: wished, because } = wish;
  switch (wished) {
    case 'subprocess':
      return { name: 'subprocess', wished, because };
    case 'container':
    case 'auto':
      return findContainers(wish);
    default:
      throw libErrors.USAGE({
        problem: `--mode ${wished} is not known.`,
        hint: 'Use auto, subprocess or container.',
      });
  }
}

async function findContainers(wish: ModeWish): Promise<Mode> {
  const { searchEngine } = await import('../engines/index.ts');
  const { engine, tried, silent } = await searchEngine(wish.env);
  if (engine !== undefined) return withEngine(wish, engine);
  if (wish.mode !== 'auto') throw engineErrors.ENGINE_UNREACHABLE({ tried });
  const signs = [...silent, ...(await enginePrograms(wish.env))];
  return { name: 'subprocess', wished: 'auto', because: decideWithoutEngine({ ...wish.repository, signs, tried }) };
}

/** Who has one of these has, or had, an engine. */
export async function enginePrograms(env: Environment): Promise<string[]> {
  const found = await Promise.all(['docker', 'podman'].map((name) => findProgram(name, env)));
  return found.flatMap((file) => (file === undefined ? [] : [`${file} is on this machine`]));
}

async function withEngine(wish: ModeWish, engine: Engine): Promise<Mode> {
  const { findRunImage } = await import('../images/index.ts');
  const rules = wish.rules();
  // Reported where they are used.
  rules?.catch(() => undefined);
  const [info] = await Promise.all([checkedInfo(engine), wish.check()]);
  const request = await wish.request();
  const found = await findRunImage(engine, request);
  const decision = decideImage(found, wish.autoBuild);
  const line: ModeLine = { name: 'container', wished: wish.mode, because: becauseOf(wish, decision) };
  const mode = { ...line, name: 'container', engine, info, rules } as const;
  if (decision.do === 'take') return { ...mode, ...freshImages(found) };
  if (wish.build === null) return { ...mode, image: nameOf(found), workerImage: nameOf(found) };
  await wish.build(engine, request, line);
  return { ...mode, ...freshImages(await findRunImage(engine, request)) };
}

function becauseOf({ mode, because }: ModeWish, decision: ReturnType<typeof decideImage>): string {
  const anew = decision.do === 'build' ? `the image is built anew: ${decision.because}` : undefined;
  if (mode === 'auto')
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

/** Pure: why an engine is none for workers. */
export function engineProblem({
  mapsUsers,
  takesSeccomp,
}: Pick<EngineInfo, 'mapsUsers' | 'takesSeccomp'>): string | undefined {
  if (mapsUsers)
    return 'maps users (it is rootless, or uses userns-remap): what workers write would belong to users that you are not';
  if (!takesSeccomp)
    return 'takes no list of system calls with a container (Podman wants a file for it; docker info shows no seccomp where the kernel has none): workers could make calls that reach the whole machine';
  return undefined;
}
