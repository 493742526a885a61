/** What a task prints first, to tell when its command begins. */
export const HERE = 'the command begins';

const OF_TASK = new RegExp(`^${HERE}$`);
const OF_VERIFICATION = /^verification of /;
const END = /^\S+ ends: |^gate .*: (green|red) /;

/**
 * Each start of a worker, from its number being free to the first line of its command (for a verification: to the line
 * before its command), and from the end of the number's work before.
 */
export function startTimes({ events, workerLogs }) {
  const starts = events.filter(({ type }) => type === 'worker-starting');
  return starts.flatMap(({ worker, at, cause, seq }, index) => {
    const next = starts.slice(index + 1).find((later) => later.worker === worker);
    const [from, to] = [Date.parse(at), next === undefined ? Number.POSITIVE_INFINITY : Date.parse(next.at)];
    const lines = workerLogs
      .filter((line) => line.worker === worker)
      .map(({ at: time, text }) => ({ time: Date.parse(time), text }));
    const begin = lines.find(({ time, text }) => time >= from && time < to && isBegin(text));
    if (begin === undefined) return [];
    const before = lines.findLast(({ time, text }) => time <= from && END.test(text));
    return [
      {
        seq,
        worker,
        warm: cause.includes('a spare waits'),
        verifies: OF_VERIFICATION.test(begin.text),
        ms: begin.time - from,
        sinceEnd: before === undefined ? undefined : begin.time - before.time,
      },
    ];
  });
}

const isBegin = (text) => OF_TASK.test(text) || OF_VERIFICATION.test(text);
