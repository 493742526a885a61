import { counted, firstLine, line, printableBlock } from '../../lib/index.ts';
import type { Printable } from '../../lib/index.ts';
import type { GateSummary, RecordedEvent } from '../../state/index.ts';

interface Line {
  readonly kind: 'good' | 'bad' | 'plain' | 'quiet';
  readonly text: Printable;
}

/** Before the lines of what a task or a set-up printed: no line of ours begins so. */
export const MARGIN = '           │ ';

/** An event in words; the same in plain output and in `logs`. */
// oxlint-disable-next-line complexity, max-lines-per-function -- one case per event, each a line
export function describe(event: RecordedEvent): Line {
  switch (event.type) {
    case 'run-started':
      return plain(
        line`run ${event.runId}: ${tasks(event.tasks)} in ${counted(event.levels, 'level')}, ${counted(event.settings.workers, 'worker')} (${event.settings.mode}), from ${short(event.base)}`,
      );
    case 'run-resumed':
      return plain(line`run ${event.runId} goes on: ${tasks(event.pending)} to do`);
    case 'warning':
      return bad(line`warning: ${event.text}`);
    case 'worker-starting':
      return quiet(line`worker ${event.worker} starts: ${event.cause}`);
    case 'worker-started':
      return quiet(line`worker ${event.worker} is up (${event.containerId?.slice(0, 12) ?? `pid ${event.pid}`})`);
    case 'worker-phase':
      return quiet(
        line`worker ${event.worker} is ${event.phase === 'setup' ? 'setting up its worktree' : event.phase}`,
      );
    case 'worker-kept':
      return plain(
        line`worker ${event.worker} is taken over${event.doing === null ? '' : `, at work on ${event.doing}`}`,
      );
    case 'worker-trouble':
      return bad(line`${event.task} waits, says worker ${event.worker}: ${event.text}`);
    case 'worker-recovered':
      return plain(line`${event.task} goes on, says worker ${event.worker}: the model answers`);
    case 'worker-exited':
      return event.expected
        ? quiet(line`worker ${event.worker} has ended`)
        : bad(line`worker ${event.worker} is gone: ${event.cause}`);
    case 'level-started':
      return plain(line`level ${event.level} starts: ${tasks(event.tasks)} on ${short(event.base)}`);
    case 'attempt-started':
      return plain(line`${event.task} → worker ${event.worker} (attempt ${event.attempt}: ${firstLine(event.cause)})`);
    case 'attempt-verifying':
      return quiet(line`${event.task} is being verified`);
    case 'attempt-accepted':
      return good(line`${event.task} done: ${event.detail}`);
    case 'attempt-failed':
      return bad(line`${event.task} attempt ${event.attempt} failed (${event.outcome}): ${firstLine(event.detail)}`);
    case 'task-failed':
      return bad(line`${event.task} FAILED: ${firstLine(event.cause)}`);
    case 'task-blocked':
      return bad(line`${event.task} blocked: ${event.cause}`);
    case 'task-reset':
      return plain(line`${event.task} gets new tries: ${event.cause}`);
    case 'task-merged':
      return quiet(line`${event.task} merged: ${short(event.tip)}`);
    case 'task-unmerged':
      return bad(line`${event.task} is merged anew: ${event.cause}`);
    case 'trial-dropped':
      return bad(line`level ${event.level} is merged anew: ${event.cause}`);
    case 'gates-started':
      return plain(line`gates of level ${event.level} on ${short(event.commit)} (${event.cause})`);
    case 'gates-passed':
      return good(describePassed(event.gates));
    case 'gates-failed':
      return bad(line`gates red: ${firstLine(event.log)}`);
    case 'gates-lost':
      return bad(line`gates broken off: ${event.cause}`);
    case 'level-published':
      return good(
        line`level ${event.level}: ${tasks(event.tasks.length)} merged, integration branch at ${short(event.tip)}`,
      );
    case 'level-finished':
      return event.status === 'complete'
        ? good(line`level ${event.level} complete`)
        : bad(line`level ${event.level} failed: ${event.cause}`);
    case 'run-finished':
      return event.status === 'complete'
        ? good(line`run complete: ${event.cause}`)
        : bad(line`run ${event.status}: ${printableBlock(event.cause, MARGIN)}`);
  }
}

/** A red one that is not required stops nothing, and is no green one for that; the warning after it tells of it. */
function describePassed(gates: readonly GateSummary[]): Printable {
  const green = gates.filter((gate) => gate.ok).map((gate) => gate.name);
  return green.length === 0 ? line`gates passed: no required one is red` : line`gates green: ${green.join(', ')}`;
}

const tasks = (number: number): string => counted(number, 'task');

const good = (text: Printable): Line => ({ kind: 'good', text });
const bad = (text: Printable): Line => ({ kind: 'bad', text });
const plain = (text: Printable): Line => ({ kind: 'plain', text });
const quiet = (text: Printable): Line => ({ kind: 'quiet', text });

const short = (commit: string): string => commit.slice(0, 10);
