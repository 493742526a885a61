import { agentErrors } from '../agents/errors.ts';
import type { EgressRules } from '../egress/rules/index.ts';
import type { Engine, EngineInfo } from '../engines/index.ts';
import type { RunImage } from '../images/index.ts';
import type { RunSettings } from '../state/index.ts';
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
        /** Id of the worker image, without anything of the repository: the egress proxy runs on it. */
        readonly workerImage: string;
        /** What workers may reach: known once npm has named its registries. Null without a proxy. */
        readonly rules: Promise<EgressRules> | null;
      }
  );

export interface ModeReason {
  /** The mode that was asked for, say "auto". */
  readonly wished: string;
  readonly because: string;
}

/** The first line that a run prints. */
export type ModeLine = ModeReason & Pick<Mode, 'name'>;

/** What is known when no engine answers. */
export interface EngineAbsence {
  /** Why containers are meant in this repository; empty when nothing says so. */
  readonly meant: readonly string[];
  /** Signs of an engine that is stopped or out of reach. */
  readonly signs: readonly string[];
  /** Where an engine was looked for, and what was found there. */
  readonly tried: readonly string[];
  /** Names of agents that tasks ask. */
  readonly agents: readonly string[];
  /** Number of tasks for them. */
  readonly agentTasks: number;
}

/**
 * Pure. Why workers may be subprocesses without an order of the user: nothing speaks for containers, and no agent is
 * needed. Throws otherwise, and says what to do.
 */
export function decideWithoutEngine({ meant, signs, tried, agents, agentTasks }: EngineAbsence): string {
  const reasons = [...meant, ...signs];
  if (reasons.length > 0) throw projectErrors.CONTAINERS_UNAVAILABLE({ reasons, tried });
  if (agentTasks > 0) throw agentErrors.AGENT_UNCONFINED({ agents, tasks: agentTasks });
  return 'this machine has no container engine, and all tasks have a command of their own';
}

export type ImageDecision =
  | { readonly do: 'take'; readonly tag: string }
  | { readonly do: 'build'; readonly because: string };

/**
 * Pure. A stale image is built anew without a question, because its Dockerfile has been approved. The very first image is
 * built only on request. `command` is that of the run.
 */
export function decideImage(
  { kind, state }: Pick<RunImage, 'kind' | 'state'>,
  { autoBuild, command }: { readonly autoBuild: boolean; readonly command: string | null },
): ImageDecision {
  switch (state.state) {
    case 'fresh':
      return { do: 'take', tag: state.tag };
    case 'stale':
      return { do: 'build', because: state.reasons.join('; ') };
    case 'missing':
      if (autoBuild) return { do: 'build', because: 'there is none, and --auto-build says so' };
      throw projectErrors.IMAGE_NOT_BUILT({
        image: kind === 'worker' ? 'of the workers' : 'of this repository',
        command: command ?? '',
      });
  }
}

/**
 * Pure. A resumed run keeps its mode; but a run of subprocesses is refused where containers are meant by now. Where auto
 * chose subprocesses it chooses again, because tasks and machine may have changed.
 */
export function decideResumed(
  feature: string,
  { mode, modeByAuto }: Pick<RunSettings, 'mode' | 'modeByAuto'>,
  meant: readonly string[],
): string {
  if (mode === 'container') return mode;
  if (meant.length > 0) throw projectErrors.MODE_UNCLEAR({ feature, begun: mode, reasons: meant });
  return modeByAuto ? 'auto' : mode;
}

/** Pure. Why workers cannot run on an engine. */
export function engineProblem({
  mapsUsers,
  takesSeccomp,
  ownKernels,
}: Pick<EngineInfo, 'mapsUsers' | 'takesSeccomp' | 'ownKernels'>): string | undefined {
  if (mapsUsers)
    return 'maps users (it is rootless, or uses userns-remap): what workers write would belong to users that you are not';
  if (!takesSeccomp && !ownKernels)
    return 'takes no list of system calls with a container (Podman wants a file for it; docker info shows no seccomp where the kernel has none): workers could make calls that reach the whole machine';
  return undefined;
}
