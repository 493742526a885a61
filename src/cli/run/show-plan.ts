import { inDollars, line, printable, printableBlock, printableJson, printableLines } from '../../lib/index.ts';
import { unprotectedLines } from '../../project/index.ts';
import type { RunFace, RunPreview } from '../../project/index.ts';
import { formatPlan } from '../../tasks/index.ts';
import type { RunSettings } from '../../state/index.ts';
import type { CliContext } from '../command.ts';

/** `--dry-run`: what would be done. */
export function showPlan(
  { graph, settings, used, mode, lack }: RunPreview,
  notes: readonly string[],
  tell: RunFace['mode'] | undefined,
  { out, err }: CliContext,
): void {
  const unprotected = unprotectedLines(mode, used);
  if (tell === undefined) {
    const { feature, levels, tasks } = graph;
    const { name, wished, because } = mode;
    const told = { name, wished, because, unprotected };
    const missing = lack && { code: lack.code, message: lack.message, hint: lack.hint };
    const facts = { type: 'plan', mode: told, lack: missing, feature, settings, levels, tasks, warnings: notes };
    return out(line`${printableJson(facts)}\n`);
  }
  tell(mode, unprotected);
  const { workers, ownership, gates } = settings;
  out(printableLines(formatPlan(graph, { workers, ownership, gates }).map(printable)));
  out(line`Mode ${mode.name}, agent ${settings.agent}${capsInWords(settings.caps)}. Nothing was started.\n`);
  if (lack !== null)
    err(line`note: a run could not begin now: ${printableBlock(`${lack.message}\n${lack.hint}`, '  ')}\n`);
  for (const note of notes) err(line`note: ${note}\n`);
}

function capsInWords({ run, task }: RunSettings['caps']): string {
  const ofRun = run === null ? '' : `, at most ${inDollars(run.usd)} for all`;
  return task === null ? ofRun : `${ofRun}, at most ${inDollars(task.usd)} for each task`;
}
