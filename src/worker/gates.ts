import type { GateAssignment, GateReport, GateResult } from '../protocol/index.ts';
import type { WorkerContext } from './context.ts';
import { runShell } from './shell-step.ts';
import type { WorktreeSetup } from './worktree-setup.ts';

/** Runs the gates on a clean checkout of the merged commit. Stops at the first required gate that is red. */
export async function runGates(
  context: WorkerContext,
  setup: WorktreeSetup,
  assignment: GateAssignment,
): Promise<GateResult> {
  // Ignored files of earlier tasks (build output, caches) could make a gate green or red: they are removed first.
  await setup.prepare({ base: assignment.base, fresh: !context.boot.singleUse });
  await context.reporter.update({ phase: 'gating' });
  const reports: GateReport[] = [];
  for (const gate of assignment.gates) {
    const log = context.log.about(`gate:${gate.name}`, assignment.attempt);
    log.line('worker', `gate ${gate.name} on ${assignment.base.slice(0, 12)}: ${gate.command}`);
    const result = await runShell(context, { source: 'gate', command: gate.command, timeoutMs: gate.timeoutMs, log });
    if (result.stopped) return { kind: 'gate', attempt: assignment.attempt, gates: reports, error: 'stopped' };
    log.line('worker', `gate ${gate.name}: ${result.ok ? 'green' : 'red'} (${result.detail})`);
    reports.push({
      name: gate.name,
      ok: result.ok,
      required: gate.required,
      detail: result.detail,
      output: result.ok ? '' : result.output,
      durationMs: result.durationMs,
    });
    if (gate.required && !result.ok) break;
  }
  return { kind: 'gate', attempt: assignment.attempt, gates: reports, error: null };
}
