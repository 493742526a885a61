import type { VerifyAssignment, VerifyResult } from '../protocol/index.ts';
import type { WorkerContext } from './context.ts';
import { runShell } from './shell-step.ts';
import type { WorktreeSetup } from './worktree-setup.ts';

/** Verifies the commit of an attempt, in a worktree in which nothing else has run. */
export async function runVerification(
  context: WorkerContext,
  setup: WorktreeSetup,
  assignment: VerifyAssignment,
): Promise<VerifyResult> {
  const { attempt, base, task, command, timeoutMs } = assignment;
  await setup.prepare({ base, fresh: !context.boot.singleUse });
  await context.reporter.update({ phase: 'verifying' });
  const log = context.log.about(task, attempt);
  log.line('worker', `verification of ${base.slice(0, 12)}: ${command}`);
  const { ok, stopped, detail, output } = await runShell(context, { source: 'verify', command, timeoutMs, log });
  return { kind: 'verify', attempt, ok, detail, output: ok ? '' : output, error: stopped ? 'stopped' : null };
}
