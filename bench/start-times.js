/** What a task prints first, to tell when its command begins. */
export const HERE = 'the command begins';

const OF_TASK = new RegExp(`^${HERE}$`);
const OF_VERIFICATION = /^verification of /;
const END = /^\S+ ends: |^gate .*: (green|red) /;

/**
 * Each start of a worker, from its place being free to the first line of its command (for a verification: to the line
 * before its command), and from the end of the work before at its place.
 */
export function startTimes({ events, workerLogs }) {
  const starts = events.filter(({ type }) => type === 'worker-starting');
  // Two numbers take turns at each place.
  const places = events.find(({ type }) => type === 'run-started').settings.workers;
  return starts.flatMap(({ worker, at, cause, seq }, index) => {
    const next = starts.slice(index + 1).find((later) => later.worker === worker);
    const [from, to] = [Date.parse(at), next === undefined ? Number.POSITIVE_INFINITY : Date.parse(next.at)];
    const lines = workerLogs
      .filter((line) => line.worker === worker)
      .map(({ at: time, text }) => ({ time: Date.parse(time), text }));
    const begin = lines.find(({ time, text }) => time >= from && time < to && isBegin(text));
    if (begin === undefined) return [];
    const ends = workerLogs.filter(({ text, ...line }) => line.worker % places === worker % places && END.test(text));
    const before = Math.max(...ends.map(({ at: time }) => Date.parse(time)).filter((time) => time <= from));
    return [
      {
        seq,
        worker,
        warm: cause.includes('a spare waits'),
        verifies: OF_VERIFICATION.test(begin.text),
        ms: begin.time - from,
        sinceEnd: Number.isFinite(before) ? begin.time - before : undefined,
      },
    ];
  });
}

const isBegin = (text) => OF_TASK.test(text) || OF_VERIFICATION.test(text);
