import type { GateSummary, RecordedEvent } from '../../state/index.ts';

interface Line {
  readonly kind: 'good' | 'bad' | 'plain' | 'quiet';
  readonly text: string;
}

/** An event in words; the same in plain output and in `logs`. */
// oxlint-disable-next-line complexity, max-lines-per-function -- one case per event, each a line
export function describe(event: RecordedEvent): Line {
  switch (event.type) {
    case 'run-started':
      return plain(
        `run ${event.runId}: ${tasks(event.tasks)} in ${count(event.levels, 'level')}, ${count(event.settings.workers, 'worker')} (${event.settings.mode}), from ${short(event.base)}`,
      );
    case 'run-resumed':
      return plain(`run ${event.runId} goes on: ${tasks(event.pending)} to do`);
    case 'warning':
      return bad(`warning: ${event.text}`);
    case 'worker-starting':
      return quiet(`worker ${event.worker} starts: ${event.cause}`);
    case 'worker-started':
      return quiet(`worker ${event.worker} is up (${event.containerId?.slice(0, 12) ?? `pid ${event.pid}`})`);
    case 'worker-phase':
      return quiet(`worker ${event.worker} is ${event.phase === 'setup' ? 'setting up its worktree' : event.phase}`);
    case 'worker-kept':
      return plain(`worker ${event.worker} is taken over${event.doing === null ? '' : `, at work on ${event.doing}`}`);
    case 'worker-trouble':
      return bad(`${event.task} waits, says worker ${event.worker}: ${event.text}`);
    case 'worker-recovered':
      return plain(`${event.task} goes on, says worker ${event.worker}: the model answers`);
    case 'worker-exited':
      return event.expected
        ? quiet(`worker ${event.worker} has ended`)
        : bad(`worker ${event.worker} is gone: ${event.cause}`);
    case 'level-started':
      return plain(`level ${event.level} starts: ${tasks(event.tasks)} on ${short(event.base)}`);
    case 'attempt-started':
      return plain(`${event.task} → worker ${event.worker} (attempt ${event.attempt}: ${firstLine(event.cause)})`);
    case 'attempt-verifying':
      return quiet(`${event.task} is being verified`);
    case 'attempt-accepted':
      return good(`${event.task} done: ${event.detail}`);
    case 'attempt-failed':
      return bad(`${event.task} attempt ${event.attempt} failed (${event.outcome}): ${firstLine(event.detail)}`);
    case 'task-failed':
      return bad(`${event.task} FAILED: ${firstLine(event.cause)}`);
    case 'task-blocked':
      return bad(`${event.task} blocked: ${event.cause}`);
    case 'task-reset':
      return plain(`${event.task} gets new tries: ${event.cause}`);
    case 'task-merged':
      return quiet(`${event.task} merged: ${short(event.tip)}`);
    case 'gates-started':
      return plain(`gates of level ${event.level} on ${short(event.commit)} (${event.cause})`);
    case 'gates-passed':
      return good(describePassed(event.gates));
    case 'gates-failed':
      return bad(`gates red: ${firstLine(event.log)}`);
    case 'gates-lost':
      return bad(`gates broken off: ${event.cause}`);
    case 'level-published':
      return good(
        `level ${event.level}: ${tasks(event.tasks.length)} merged, integration branch at ${short(event.tip)}`,
      );
    case 'level-finished':
      return event.status === 'complete'
        ? good(`level ${event.level} complete`)
        : bad(`level ${event.level} failed: ${event.cause}`);
    case 'run-finished':
      return event.status === 'complete'
        ? good(`run complete: ${event.cause}`)
        : bad(`run ${event.status}: ${event.cause}`);
  }
}

/** A red one that is not required stops nothing, and is no green one for that; the warning after it tells of it. */
function describePassed(gates: readonly GateSummary[]): string {
  const green = gates.filter((gate) => gate.ok).map((gate) => gate.name);
  return green.length === 0 ? 'gates passed: no required one is red' : `gates green: ${green.join(', ')}`;
}

const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`;
const tasks = (number: number): string => count(number, 'task');

const good = (text: string): Line => ({ kind: 'good', text });
const bad = (text: string): Line => ({ kind: 'bad', text });
const plain = (text: string): Line => ({ kind: 'plain', text });
const quiet = (text: string): Line => ({ kind: 'quiet', text });

const short = (commit: string): string => commit.slice(0, 10);

const firstLine = (text: string): string => text.split('\n')[0] ?? '';
