import { counted } from '../lib/text/words.ts';
import type { Advice } from './advice.ts';
import type { TaskGraph } from './graph.ts';
import { scheduleOf, USUAL_MINUTES } from './schedule.ts';

/** Pure. Advice and a time line, for people. */
export function formatAdvice(graph: TaskGraph, advice: Advice, workers: number): string[] {
  const { criticalPath, minutes, usefulWorkers, notes } = advice;
  const guessed = graph.tasks.filter(({ estimateMinutes }) => estimateMinutes === null).length;
  return [
    `Feature ${graph.feature}: ${counted(graph.tasks.length, 'task')} in ${counted(graph.levels.length, 'level')}`,
    ...scheduleOf(graph, workers).flatMap(({ level, from, to, workers: lanes }) => [
      `Level ${level}, minute ${from} to ${to}`,
      ...lanes.map(
        (lane, index) => `  worker ${index}  ${lane.map((slot) => `${slot.task} (${slot.to - slot.from})`).join(', ')}`,
      ),
    ]),
    `Longest chain: ${criticalPath.tasks.join(' -> ')} (${criticalPath.minutes} min)`,
    `Time: ${minutes.map((each) => `${each.minutes} min with ${counted(each.workers, 'worker')}`).join(', ')}; more than ${usefulWorkers} win nothing`,
    ...(guessed === 0
      ? []
      : [`${counted(guessed, 'task')} without "estimate_minutes" counted as ${USUAL_MINUTES} min each`]),
    ...notes.map((note) => `note: ${note}`),
  ];
}

/** Pure. The graph as a diagram in Mermaid's words. */
export function formatMermaid({ tasks, levels }: TaskGraph): string[] {
  const names = new Map(tasks.map(({ id }, index) => [id, `t${index}`]));
  const nodes = levels.flatMap((level) => [
    `  subgraph level${level} [Level ${level}]`,
    ...tasks
      .filter((task) => task.level === level)
      .map((task) => `    ${names.get(task.id)}["${quoted(`${task.id}: ${task.title}`)}"]`),
    '  end',
  ]);
  const arrows = tasks.flatMap(({ id, dependencies }) =>
    dependencies.map((needed) => `  ${names.get(needed)} --> ${names.get(id)}`),
  );
  return ['flowchart LR', ...nodes, ...arrows];
}

const quoted = (text: string): string =>
  text
    .replaceAll(/\s+/g, ' ')
    .replaceAll('&', '#amp;')
    .replaceAll('"', '#quot;')
    .replaceAll('<', '#lt;')
    .replaceAll('>', '#gt;');
