import { taskVariables } from '../launchers/index.ts';
import type { RunOptions } from '../orchestrator/index.ts';
import type { Program, ProgramInput } from '../shells/index.ts';
import type { RunState } from '../state/index.ts';
import type { Mode } from './decide-mode.ts';
import type { RunHost } from './run-face.ts';
import type { RunRequest } from './run-request.ts';
import { wireShell } from './wire-containers.ts';
import type { ContainerWorkers } from './wire-containers.ts';
import { runOptions } from './wire.ts';

export interface ShellRequest extends Pick<RunRequest, 'project' | 'config'> {
  readonly feature: string;
  /** The number of a worker, or the id of a task. */
  readonly target: string;
}

/** All that a shell is opened with. */
export interface ShellPlan extends ShellRequest, Pick<RunRequest, 'graph'> {
  readonly state: RunState;
  readonly mode: Mode & { readonly name: 'container' };
}

/** A container in which a person runs programs. */
export interface OpenShell {
  /** Where it is, and what is not as one may expect; one line each. */
  readonly said: readonly string[];
  start(input: ProgramInput): Promise<Program>;
  /** What to say when a program in it was killed. */
  readonly killed: string;
  /** Nothing of it is left afterwards; the container of a worker stays. */
  close(): Promise<void>;
}

interface Wired {
  readonly workers: ContainerWorkers;
  readonly options: RunOptions;
  /** What a task would see. */
  variables(task: string | null): Promise<Record<string, string>>;
}

const NO_AGENT = () => ({ kind: 'shell' }) as const;

/** What workers are made with, for a shell: the same without any credentials. */
export async function wiredShell(
  plan: ShellPlan,
  own: Parameters<typeof wireShell>[1],
  { env, interrupted: stop }: RunHost,
): Promise<Wired> {
  const { project, config, mode } = plan;
  const workers = await wireShell({ ...plan, env }, own);
  const copies = await project.repository.untrackedFiles(config.workers.copy);
  const { env: given, redact } = workers;
  const options = runOptions(config, {
    agentFor: NO_AGENT,
    copies,
    deadlineMs: null,
    spentMs: 0,
    env: given,
    redact,
    stop,
    singleUse: true,
  });
  return {
    workers,
    options,
    variables: async (task) => {
      const imageEnv = (await mode.engine.inspectImage(mode.image))?.env ?? {};
      const named = task === null ? {} : { MAHABHARATHA_TASK: task };
      return { ...(await taskVariables(options.env, workers.settings, imageEnv)), ...named };
    },
  };
}
