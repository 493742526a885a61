import path from 'node:path';
import { createLineSplitter, inSeconds, reasonOf } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import { openLogFile } from '../logs/index.ts';
import type { RunEnd } from '../orchestrator/index.ts';
import { HOOK_LOG, HOOK_RUNNER } from '../protocol/index.ts';
import type { LogLine } from '../protocol/index.ts';
import type { RunState } from '../state/index.ts';
import { supervise } from '../supervise/index.ts';
import type { Supervised } from '../supervise/index.ts';
import type { HookEnd, HookName, RunHost } from './run-face.ts';
import type { RunRequest } from './run-request.ts';

/** A run that was stopped was stopped by a person, who needs no hook to know. */
const HOOKS: { readonly [Status in RunState['status']]?: HookName } = {
  complete: 'on_complete',
  failed: 'on_failure',
  paused: 'on_pause',
};

const GRACE_MS = 2000;
const LOG_BYTES = 1024 * 1024;

/**
 * Runs the user's command for such an end. Its shell text is that of the approved settings alone; the facts are in its
 * environment, and none of them is text of a worker. Undefined when there is no such command.
 */
export async function runHook(
  { project, config }: Pick<RunRequest, 'project' | 'config'>,
  end: RunEnd,
  host: Pick<RunHost, 'env' | 'interrupted'>,
): Promise<HookEnd | undefined> {
  const { state } = end;
  const hook = HOOKS[state.status];
  const command = hook === undefined ? undefined : config.hooks[hook];
  if (hook === undefined || command === undefined) return undefined;
  const log = openLogFile(path.join(project.store(state.feature).paths.logs, HOOK_LOG), { limitBytes: LOG_BYTES });
  const totalMs = config.hooks.timeout;
  const job = { cwd: project.repository.root, env: { ...host.env, ...factsOf(hook, end) }, stop: host.interrupted };
  const [out, err] = [openLines(log), openLines(log)];
  try {
    const listening = { ...job, onStdout: out.push, onStderr: err.push };
    const ended = await supervise('bash', ['-c', command], { ...listening, totalMs, graceMs: GRACE_MS });
    for (const stream of [out, err]) stream.end();
    const problem = problemOf(ended, totalMs);
    log.write(lineOf(`${hook}: ${problem ?? 'exit status 0'}`));
    return { hook, feature: state.feature, exit: ended.code, problem, ms: ended.durationMs };
  } catch (error) {
    // The run has ended as it has ended.
    return { hook, feature: state.feature, exit: null, problem: reasonOf(error), ms: 0 };
  } finally {
    await log.close();
  }
}

const openLines = (log: ReturnType<typeof openLogFile>): ReturnType<typeof createLineSplitter> =>
  createLineSplitter((text) => log.write(lineOf(text)));

function lineOf(text: string): string {
  const line: LogLine = { at: new Date().toISOString(), worker: HOOK_RUNNER, source: 'hook', text };
  return `${JSON.stringify(line)}\n`;
}

function problemOf({ code, signal, endedBy }: Supervised, totalMs: number): string | null {
  if (endedBy === 'total') return `it was ended after ${inSeconds(totalMs)} (hooks.timeout)`;
  if (endedBy === 'stopped') return 'it was interrupted';
  if (code === 0) return null;
  return code === null ? `ended by ${signal ?? 'a signal'}` : `exit status ${code}`;
}

/** Names, numbers and commits. No name is one of those by which processes of a run are found. */
function factsOf(hook: HookName, { state, exit }: RunEnd): Environment {
  const tasks = Object.values(state.tasks);
  return {
    MAHABHARATHA_HOOK: hook,
    MAHABHARATHA_FEATURE: state.feature,
    MAHABHARATHA_RUN_ID: state.runId,
    MAHABHARATHA_STATUS: state.status,
    MAHABHARATHA_EXIT: String(exit),
    MAHABHARATHA_BRANCH: state.integration,
    MAHABHARATHA_COMMIT: state.integrationTip,
    MAHABHARATHA_TASKS: String(tasks.length),
    MAHABHARATHA_TASKS_DONE: String(tasks.filter(({ status }) => status === 'complete').length),
  };
}
