import { median } from './measure.js';

/** Where the time of a run went, in ms, from its event log and the logs of its workers. Medians over the tasks. */
export function timelineOf({ startedAt, endedAt, events, workerLogs }) {
  const tasks = tasksOf(events, workerLogs);
  const workers = [...new Set(tasks.map(({ worker }) => worker))];
  const chains = workers.map((worker) => tasks.filter((task) => task.worker === worker));
  const later = chains.flatMap((own) => own.slice(1));
  return {
    firstAssignment: Math.min(...tasks.map(({ started }) => started)) - startedAt,
    workerReady: median(chains.map(([first]) => first.begins - first.started)),
    pickUp: median(later.map(({ started, begins }) => begins - started)),
    work: median(tasks.map(({ begins, ends }) => ends - begins)),
    accept: median(tasks.map(({ ends, accepted }) => accepted - ends)),
    nextAssignment: median(chains.flatMap(gapsOf)),
    end: endedAt - Math.max(...tasks.map(({ accepted }) => accepted)),
  };
}

/** From "its last task is accepted" to "the next one is assigned", for one worker. */
function gapsOf(chain) {
  return chain.slice(1).map((task, index) => task.started - chain[index].accepted);
}

/** In the order in which they were assigned. */
function tasksOf(events, workerLogs) {
  const accepted = new Map(ofType(events, 'attempt-accepted').map(({ task, at }) => [task, Date.parse(at)]));
  return ofType(events, 'attempt-started').map(({ task, worker, at }) => ({
    worker,
    started: Date.parse(at),
    begins: spoken(workerLogs, task, 'begins'),
    ends: spoken(workerLogs, task, 'ends'),
    accepted: accepted.get(task),
  }));
}

function ofType(events, type) {
  return events.filter((event) => event.type === type);
}

function spoken(workerLogs, task, word) {
  const line = workerLogs.find(({ source, text }) => source === 'worker' && text.startsWith(`${task} ${word}:`));
  return Date.parse(line.at);
}
