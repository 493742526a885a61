import type { GateReport, GateResult, GateSpec } from '../protocol/index.ts';
import { endOf } from './decide-losses.ts';
import { record } from './plan.ts';
import type { Action, Snapshot } from './plan.ts';

interface GateWork {
  readonly level: number;
  readonly worker: number;
  readonly count: number;
  readonly gates: readonly GateSpec[];
}

/** A gate run that is under way: has it ended? */
export function settleGates(snapshot: Snapshot): Action[] {
  const { state, workers } = snapshot;
  return Object.entries(state.levels).flatMap(([key, { gateRun }]) => {
    if (gateRun === null) return [];
    const { attempt, worker, count } = gateRun;
    const level = Number(key);
    const view = workers.get(worker);
    if (view?.result?.kind === 'gate' && view.result.attempt === attempt)
      return judgeGates({ level, worker, count, gates: state.settings.gates }, view.result);
    if (view?.alive || (view?.setupFailure ?? null) !== null) return [];
    return [record({ type: 'gates-lost', level, attempt, cause: `worker ${worker} died: ${endOf(snapshot, worker)}` })];
  });
}

function judgeGates({ level, worker, count, gates }: GateWork, result: GateResult): Action[] {
  const { attempt, error } = result;
  if (error === 'stopped') return [record({ type: 'gates-lost', level, attempt, cause: 'stopped' })];
  if (error !== null) return [record({ type: 'gates-failed', level, attempt, count, gates: [], log: error })];
  const reports = answersTo(gates, result.gates);
  if (reports === undefined) {
    const cause = `worker ${worker} did not answer for each gate`;
    return [record({ type: 'gates-lost', level, attempt, cause }), { kind: 'kill-worker', worker, cause }];
  }
  const summaries = reports.map(({ name, ok, required, detail }) => ({ name, ok, required, detail }));
  const red = reports.filter(({ ok }) => !ok);
  if (red.some(({ required }) => required)) {
    const log = red.map(({ name, detail, output }) => `gate ${name} failed: ${detail}\n${output}`).join('\n');
    return [record({ type: 'gates-failed', level, attempt, count, gates: summaries, log })];
  }
  const warnings = red.map(({ name, detail }) =>
    record({ type: 'warning', text: `gate ${name} (not required) is red after level ${level}: ${detail}` }),
  );
  return [record({ type: 'gates-passed', level, attempt, count, gates: summaries }), ...warnings];
}

/** One report for each gate, in order, up to the first red one that is required. Whether it is, our settings say, not the worker. */
function answersTo(gates: readonly GateSpec[], reports: readonly GateReport[]): GateReport[] | undefined {
  const known = reports.map((report, index) => ({ ...report, required: gates[index]?.required ?? true }));
  const ended = known.at(-1);
  const complete = known.length === gates.length || (ended !== undefined && ended.required && !ended.ok);
  return complete && known.every(({ name }, index) => name === gates[index]?.name) ? known : undefined;
}
