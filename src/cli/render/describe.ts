import { counted, firstLine, inDollars, inSeconds, line } from '../../lib/index.ts';
import type { Printable } from '../../lib/index.ts';
import type { GateSummary, RecordedEvent } from '../../state/index.ts';

interface Line {
  readonly kind: 'good' | 'bad' | 'plain' | 'quiet';
  readonly text: Printable;
}

/** Before each line that a task or set-up printed; no line of ours begins so, so a task cannot forge one. */
export const MARGIN = '           │ ';

type EventOf<Type extends RecordedEvent['type']> = Extract<RecordedEvent, { type: Type }>;

const LINES: { readonly [Type in RecordedEvent['type']]: (event: EventOf<Type>) => Line } = {
  'run-started': ({ runId, tasks, levels, settings, base }) =>
    plain(
      line`run ${runId}: ${inTasks(tasks)} in ${counted(levels, 'level')}, ${counted(settings.workers, 'worker')} (${settings.mode}), from ${short(base)}`,
    ),
  'run-resumed': ({ runId, pending }) => plain(line`run ${runId} goes on: ${inTasks(pending)} to do`),
  'run-finished': ({ status, cause }) =>
    status === 'complete' ? good(line`run complete: ${cause}`) : bad(line`run ${status}: ${firstLine(cause)}`),
  warning: ({ text }) => bad(line`warning: ${text}`),

  'snapshot-begun': ({ commit, command }) =>
    plain(
      command === null
        ? line`a snapshot of ${short(commit)} is made, from which workers start`
        : line`set-up of ${short(commit)}: ${firstLine(command)}`,
    ),
  'snapshot-made': ({ commit, ms }) => plain(line`set-up of ${short(commit)} is ready after ${inSeconds(ms)}`),

  'worker-starting': ({ worker, cause }) => quiet(line`worker ${worker} starts: ${cause}`),
  'worker-started': ({ worker, containerId, pid }) =>
    quiet(line`worker ${worker} is up (${containerId?.slice(0, 12) ?? `pid ${pid}`})`),
  'worker-phase': ({ worker, phase }) =>
    quiet(line`worker ${worker} is ${phase === 'setup' ? 'setting up its worktree' : phase}`),
  'worker-kept': ({ worker, doing }) =>
    plain(line`worker ${worker} is taken over${doing === null ? '' : `, at work on ${doing}`}`),
  'worker-trouble': ({ worker, task, text }) => bad(line`${task} waits, says worker ${worker}: ${text}`),
  'worker-recovered': ({ worker, task }) => plain(line`${task} goes on, says worker ${worker}: the model answers`),
  'worker-exited': ({ worker, expected, cause }) =>
    expected ? quiet(line`worker ${worker} has ended`) : bad(line`worker ${worker} is gone: ${cause}`),

  'attempt-started': ({ task, worker, attempt, cause }) =>
    plain(line`${task} → worker ${worker} (attempt ${attempt}: ${firstLine(cause)})`),
  'attempt-spent': ({ task, usage }) =>
    quiet(line`${task} has cost ${inDollars(usage.costUsd)} in this attempt so far`),
  'attempt-verifying': ({ task, work }) =>
    quiet(work === undefined ? line`${task} is being verified` : line`${task} has work: ${firstLine(work.detail)}`),
  'verification-started': ({ task, worker }) => quiet(line`${task} is being verified by worker ${worker}`),
  'verification-lost': ({ task, cause }) => bad(line`${task} is verified again: ${firstLine(cause)}`),
  'attempt-accepted': ({ task, detail }) => good(line`${task} done: ${detail}`),
  'attempt-failed': ({ task, attempt, outcome, detail }) =>
    bad(line`${task} attempt ${attempt} failed (${outcome}): ${firstLine(detail)}`),
  'task-failed': ({ task, cause }) => bad(line`${task} FAILED: ${firstLine(cause)}`),
  'task-blocked': ({ task, cause }) => bad(line`${task} blocked: ${cause}`),
  'task-reset': ({ task, cause }) => plain(line`${task} gets new tries: ${cause}`),
  'task-merged': ({ task, tip }) => quiet(line`${task} merged: ${short(tip)}`),
  'task-unmerged': ({ task, cause }) => bad(line`${task} is merged anew: ${cause}`),

  'branch-taken-back': ({ branch, to, cause }) => bad(line`${branch} is back at ${short(to)}: ${cause}`),

  'level-started': ({ level, tasks, base }) => plain(line`level ${level} starts: ${inTasks(tasks)} on ${short(base)}`),
  'trial-dropped': ({ level, cause }) => bad(line`level ${level} is merged anew: ${cause}`),
  'gates-started': ({ level, commit, cause }) => plain(line`gates of level ${level} on ${short(commit)} (${cause})`),
  'gates-passed': ({ gates }) => good(describePassed(gates)),
  'gates-failed': ({ log }) => bad(line`gates red: ${firstLine(log)}${lastPrinted(log)}`),
  'gates-lost': ({ cause }) => bad(line`gates broken off: ${firstLine(cause)}`),
  'level-published': ({ level, tasks, tip }) =>
    good(line`level ${level}: ${inTasks(tasks.length)} merged, integration branch at ${short(tip)}`),
  'level-finished': ({ level, status, cause }) =>
    status === 'complete' ? good(line`level ${level} complete`) : bad(line`level ${level} failed: ${cause}`),
};

/** An event in words; the same in plain output and in `logs`. */
export function describe<Type extends RecordedEvent['type']>(event: EventOf<Type>): Line {
  return LINES[event.type](event);
}

/** A red gate that is not required stops nothing and is not listed; a warning follows. */
function describePassed(gates: readonly GateSummary[]): Printable {
  const green = gates.filter((gate) => gate.ok).map((gate) => gate.name);
  return green.length === 0 ? line`gates passed: no required one is red` : line`gates green: ${green.join(', ')}`;
}

/** Of the output below the first line. */
function lastPrinted(log: string): string {
  const last = log
    .split('\n')
    .slice(1)
    .findLast((one) => one.trim() !== '');
  return last === undefined ? '' : `; its last line: ${last.trim()}`;
}

const inTasks = (number: number): string => counted(number, 'task');

const good = (text: Printable): Line => ({ kind: 'good', text });
const bad = (text: Printable): Line => ({ kind: 'bad', text });
const plain = (text: Printable): Line => ({ kind: 'plain', text });
const quiet = (text: Printable): Line => ({ kind: 'quiet', text });

const short = (commit: string): string => commit.slice(0, 10);
