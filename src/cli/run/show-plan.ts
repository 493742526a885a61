import { line, printable, printableJson, printableLines } from '../../lib/index.ts';
import { agentSpec, checkWorkers, unprotectedLines } from '../../project/index.ts';
import type { Prepared, RunFace } from '../../project/index.ts';
import { formatPlan } from '../../tasks/index.ts';
import type { CliContext } from '../command.ts';

interface Manner {
  readonly json: boolean;
  readonly tell: RunFace['mode'];
}

/** `--dry-run`: what would be done. What no run could use is refused here as it would be there. */
export async function showPlan(prepared: Prepared, manner: Manner, context: CliContext): Promise<number> {
  const agent = agentSpec(prepared.config, prepared.settings.agent);
  const notes = [...prepared.notes, ...(await checkWorkers({ ...prepared, agent, env: context.env }))];
  printPlan({ ...prepared, notes }, manner, context);
  return 0;
}

function printPlan(
  { graph, settings, notes, mode: chosen, config }: Prepared,
  { json, tell }: Manner,
  context: CliContext,
): void {
  const unprotected = unprotectedLines(chosen, agentSpec(config, settings.agent), graph);
  if (json) {
    const { feature, levels, tasks } = graph;
    const mode = { name: chosen.name, wished: chosen.wished, because: chosen.because, unprotected };
    const plan = { type: 'plan', mode, feature, settings, levels, tasks, warnings: notes };
    return context.out(line`${printableJson(plan)}\n`);
  }
  tell(chosen, unprotected);
  const { workers, ownership, gates, mode, agent } = settings;
  context.out(printableLines(formatPlan(graph, { workers, ownership, gates }).map(printable)));
  context.out(line`Mode ${mode}, agent ${agent}. Nothing was started.\n`);
  for (const note of notes) context.err(line`note: ${note}\n`);
}
