import { formatPlan } from '../tasks/index.ts';
import type { CliContext } from './command.ts';
import type { Prepared } from './prepared.ts';
import { agentSpec } from './wire.ts';

/** `--dry-run`: what would be done. What no run could use is refused here as it would be there. */
export async function showPlan(prepared: Prepared, json: boolean, context: CliContext): Promise<number> {
  const notes = [...prepared.notes, ...(await notesOnContainers(prepared, context))];
  printPlan({ ...prepared, notes }, json, context);
  return 0;
}

async function notesOnContainers(
  { project, config, graph, mode, settings }: Prepared,
  { env }: CliContext,
): Promise<readonly string[]> {
  if (mode.name !== 'container') return [];
  const { checkContainers } = await import('./wire-containers.ts');
  return checkContainers({ project, config, graph, mode, agent: agentSpec(config, settings.agent), env });
}

function printPlan({ graph, settings, notes }: Prepared, json: boolean, context: CliContext): void {
  if (json) {
    return context.out(
      `${JSON.stringify({ type: 'plan', feature: graph.feature, settings, levels: graph.levels, tasks: graph.tasks, warnings: notes })}\n`,
    );
  }
  const { workers, ownership, gates, mode, agent } = settings;
  context.out(formatPlan(graph, { workers, ownership, gates }));
  context.out(`\nMode ${mode}, agent ${agent}. Nothing was started.\n`);
  for (const note of notes) context.err(`note: ${note}\n`);
}
