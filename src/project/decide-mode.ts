import type { EgressRules } from '../egress/rules/index.ts';
import { engineErrors } from '../engines/errors.ts';
import type { Engine, EngineInfo } from '../engines/index.ts';
import type { RunImage } from '../images/index.ts';
import type { AgentSpec } from '../protocol/index.ts';
import type { RunSettings } from '../state/index.ts';
import type { TaskGraph } from '../tasks/index.ts';
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

/** The first line that a run prints. */
export type ModeLine = ModeReason & Pick<Mode, 'name'>;

/** What is known when no engine answers. */
export interface EngineAbsence {
  /** Why containers are meant in this repository; empty when nothing says so. */
  readonly meant: readonly string[];
  /** What speaks of an engine on this machine that is stopped or out of reach. */
  readonly signs: readonly string[];
  /** Where an engine was looked for, and what was found there. */
  readonly tried: readonly string[];
  readonly agent: string;
  /** How many tasks are for the agent. */
  readonly agentTasks: number;
}

/**
 * Pure. Why workers may be subprocesses although no person has said so: only where containers were never in question,
 * and no agent acts on its own. Throws what is to be done otherwise.
 */
export function decideWithoutEngine({ meant, signs, tried, agent, agentTasks }: EngineAbsence): string {
  const reasons = [...meant, ...signs];
  if (reasons.length > 0) throw projectErrors.CONTAINERS_UNAVAILABLE({ reasons, tried });
  if (agentTasks > 0) throw projectErrors.AGENT_UNCONFINED({ agent, tasks: agentTasks });
  return 'this machine has no container engine, and all tasks have a command of their own';
}

export type ImageDecision =
  | { readonly do: 'take'; readonly tag: string }
  | { readonly do: 'build'; readonly because: string };

/**
 * Pure. What is stale is built anew without a question: what the repository says of its image has been approved before.
 * The first image of all is a person's to build.
 */
export function decideImage({ kind, state }: Pick<RunImage, 'kind' | 'state'>, autoBuild: boolean): ImageDecision {
  switch (state.state) {
    case 'fresh':
      return { do: 'take', tag: state.tag };
    case 'stale':
      return { do: 'build', because: state.reasons.join('; ') };
    case 'missing':
      if (autoBuild) return { do: 'build', because: 'there is none, and --auto-build says so' };
      throw engineErrors.IMAGE_MISSING({ image: kind === 'worker' ? 'of the workers' : 'of this repository' });
  }
}

/**
 * Pure. A resumed run keeps its mode; but what began without containers does not go on so unasked where containers are
 * meant. That auto chose subprocesses was for the tasks and the machine of that day: auto chooses again.
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

/** Pure. What a run without containers does not protect from; nothing for one with them. */
export function unprotectedLines({ name }: ModeLine, agent: AgentSpec, { tasks }: TaskGraph): string[] {
  if (name === 'container') return [];
  return [
    'Not protected: what tasks run has your own rights. It can read your keys and logins, change every file of yours, and use your network; ownership and gates only judge what it hands in.',
    ...(agent.kind === 'claude' && tasks.some((task) => task.run === null)
      ? ['Claude Code is started with --dangerously-skip-permissions: it asks before nothing that it does.']
      : []),
  ];
}
