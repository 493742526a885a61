import type { Engine, EngineInfo } from '../engines/index.ts';
import type { EgressRules } from '../egress/index.ts';
import type { ImageRequest, RunImage } from '../images/index.ts';
import { AppError, asAppError } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';

/** Exit status of what is missing on the machine. */
const ENVIRONMENT = 4;

/** What workers will run in. */
export type Mode =
  | { readonly name: 'subprocess'; readonly note?: string }
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
      readonly note?: string;
    };

interface ModeWish {
  readonly mode: string;
  readonly env: Environment;
  readonly request: () => Promise<ImageRequest>;
  /** Throws when something of the repository speaks against containers. */
  readonly check: () => Promise<void>;
  /** Begins to find out what workers may reach. */
  readonly rules: () => Promise<EgressRules> | null;
  /** Builds what is missing or stale; null when the user has not asked for that. */
  readonly build: ((engine: Engine, request: ImageRequest) => Promise<void>) | null;
}

/** `container` insists, `auto` takes containers when all is there for them and says what is not. */
export async function chooseMode(wish: ModeWish): Promise<Mode> {
  switch (wish.mode) {
    case 'subprocess':
      return { name: 'subprocess' };
    case 'container':
      return findContainers(wish);
    case 'auto':
      return await chooseAlone(wish);
    default:
      throw new AppError('USAGE', {
        problem: `--mode ${wish.mode} is not known.`,
        hint: 'Use auto, subprocess or container.',
      });
  }
}

async function chooseAlone(wish: ModeWish): Promise<Mode> {
  try {
    const found = await findContainers(wish);
    return { ...found, note: 'mode auto: container, because an engine and a fresh image are there' };
  } catch (error) {
    const { code, message, exit } = asAppError(error);
    // Who has asked for a build wants to know that it failed.
    if (exit !== ENVIRONMENT || code === 'IMAGE_BUILD_FAILED') throw error;
    const reason = message.split('\n')[0]?.replace(/[.:]$/, '');
    return {
      name: 'subprocess',
      note: `mode auto: subprocess, because: ${reason}. Workers run with your own rights; what containers need says: mahabharatha doctor`,
    };
  }
}

async function findContainers({
  env,
  request,
  check,
  rules: askRules,
  build,
}: ModeWish): Promise<Mode & { name: 'container' }> {
  const [{ findEngine }, { takeRunImage }] = await Promise.all([
    import('../engines/index.ts'),
    import('../images/index.ts'),
  ]);
  const engine = await findEngine(env);
  const rules = askRules();
  // Heard by whoever uses them.
  rules?.catch(() => undefined);
  const [info] = await Promise.all([checkedInfo(engine), check()]);
  const asked = await request();
  let image = await takeRunImage(engine, asked);
  if (image.state.state !== 'fresh' && build !== null) {
    await build(engine, asked);
    image = await takeRunImage(engine, asked);
  }
  return { name: 'container', engine, info, ...freshImages(image), rules };
}

async function checkedInfo(engine: Engine): Promise<EngineInfo> {
  const info = await engine.info();
  const problem = engineProblem(info);
  if (problem === undefined) return info;
  const reason = `the engine at ${info.endpoint} ${problem}`;
  throw new AppError('MODE_UNAVAILABLE', { mode: 'container', reason });
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

function freshImages({ kind, state, workerId }: RunImage): { image: string; workerImage: string } {
  switch (state.state) {
    case 'fresh':
      if (workerId === null) throw new AppError('INTERNAL', { what: `${state.tag} is fresh, its worker image is not` });
      return { image: state.tag, workerImage: workerId };
    case 'missing':
      throw new AppError('IMAGE_MISSING', { image: kind === 'worker' ? 'of the workers' : 'of this repository' });
    case 'stale':
      throw new AppError('IMAGE_STALE', { kind, reasons: state.reasons });
  }
}
