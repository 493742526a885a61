import { counted, joined } from '../../lib/index.ts';
import type { Printable } from '../../lib/index.ts';
import type { RunState, TaskState } from '../../state/index.ts';
import type { Colors } from './colors.ts';
import { linesOf, restingRow, widthsOf } from './live-rows.ts';
import { levelHead, levelLines } from './status.ts';

/** With more tasks, those that are in order are counted, and not listed. */
const LISTED = 50;

/** Pure: the tasks of a run that is over, a line for each, or for each level when there are many. */
export function endView(state: RunState, columns: number, colors: Colors): readonly Printable[] {
  const widths = widthsOf({ state, work: new Map() }, columns);
  const lineOf = (id: string, task: TaskState): Printable =>
    joined(linesOf(restingRow(id, task), widths, 1, colors), '');
  if (Object.keys(state.tasks).length <= LISTED) return levelLines(state, lineOf, colors);
  return blocksOf(state).flatMap(({ from, to, head, tasks }) => [
    colors.bold(`${from === to ? `Level ${from}` : `Levels ${from} to ${to}`}: ${head} · ${progressOf(tasks)}`),
    ...tasks.filter(([, { status }]) => status === 'failed').map(([id, task]) => lineOf(id, task)),
  ]);
}

type Tasks = readonly (readonly [string, TaskState])[];

interface Block {
  readonly from: number;
  readonly to: number;
  readonly head: string;
  readonly tasks: Tasks;
}

/** Levels one after another that are alike, and of which no task is listed. */
function blocksOf({ levels, tasks }: RunState): readonly Block[] {
  const blocks = Object.entries(levels).map(([level, state]): Block => {
    const own = Object.entries(tasks).filter(([, task]) => task.level === Number(level));
    return { from: Number(level), to: Number(level), head: levelHead(state), tasks: own };
  });
  return blocks.reduce<Block[]>((joint, block) => {
    const last = joint.at(-1);
    if (last === undefined || last.head !== block.head || [last, block].some(hasFailed)) return [...joint, block];
    return [...joint.slice(0, -1), { ...last, to: block.to, tasks: [...last.tasks, ...block.tasks] }];
  }, []);
}

const hasFailed = ({ tasks }: Block): boolean => tasks.some(([, { status }]) => status === 'failed');

function progressOf(tasks: Tasks): string {
  const count = (wanted: TaskState['status']): number => tasks.filter(([, { status }]) => status === wanted).length;
  const blocked = count('blocked');
  return `${count('complete')} of ${counted(tasks.length, 'task')} done${blocked === 0 ? '' : `, ${blocked} blocked`}`;
}
