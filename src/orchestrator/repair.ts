import { attemptRef, trialRef } from '../protocol/index.ts';
import type { RunState } from '../state/index.ts';
import { commitLost } from './decide-losses.ts';
import type { Journal } from './journal.ts';
import type { RunContext } from './ports.ts';

const SHOWN = 5;

/** After a loss of power refs may be broken and objects missing: what can be is made again, the rest is done again. */
export async function repairAfterCrash({ ports, graph }: RunContext, journal: Journal): Promise<void> {
  const empty = await ports.repository.removeEmptyObjects();
  if (empty.length > 0) {
    const some = empty.slice(0, SHOWN).join(', ') + (empty.length > SHOWN ? ` and ${empty.length - SHOWN} more` : '');
    journal.record({
      type: 'warning',
      text: `these objects were empty files, and are removed to be written again: ${some}`,
    });
  }
  const broken = await ports.repository.repairRefs(graph.feature, knownRefs(journal.state));
  if (broken.length > 0) {
    const text = `these refs were broken and have been made again, or removed where nothing is known of them: ${broken.join(', ')}`;
    journal.record({ type: 'warning', text });
  }
  for (const [id, { status, merged, commit, attempts }] of Object.entries(journal.state.tasks)) {
    const attempt = attempts.at(-1);
    if (status !== 'complete' || merged || commit === null || attempt === undefined) continue;
    if (await ports.repository.isWhole(commit, attempt.base)) continue;
    // A ref to half a commit would make every git fsck and gc of the repository fail.
    await ports.repository.changeRefs([{ ref: attemptRef(graph.feature, id, attempt.number), to: null }]);
    journal.record(commitLost({ id, attempt }, commit).event);
  }
}

function knownRefs({ feature, integration, integrationTip, tasks, levels }: RunState): ReadonlyMap<string, string> {
  const attempts = Object.entries(tasks).flatMap(([id, task]) =>
    task.attempts.flatMap(({ number, commit }) =>
      commit === null ? [] : [[attemptRef(feature, id, number), commit] as const],
    ),
  );
  const trial = Object.values(levels)
    .findLast((level) => level.trial !== null)
    ?.trial?.tips.at(-1);
  return new Map([
    [`refs/heads/${integration}`, integrationTip],
    ...(trial === undefined ? [] : [[trialRef(feature), trial] as const]),
    ...attempts,
  ]);
}
