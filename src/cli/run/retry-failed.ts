import { line, printableJson } from '../../lib/index.ts';
import { openProject, retryTasks } from '../../project/index.ts';
import { textOf } from '../command.ts';
import type { CliContext, CommandInput } from '../command.ts';

/** `retry`: says which tasks get new tries, and what to do next. */
export async function retryFailed(input: CommandInput, context: CliContext): Promise<number> {
  const project = await openProject(context);
  const feature = await project.feature(textOf(input['feature']));
  const { live, asked: tasks } = await retryTasks(project, feature, textOf(input['argument']));
  const text = inWords(feature, tasks, live);
  const facts = { type: 'retry', feature, tasks, text };
  context.out(line`${input['json'] === true ? printableJson(facts) : text}\n`);
  return 0;
}

function inWords(feature: string, asked: readonly string[], live: boolean): string {
  if (asked.length === 0) return 'No task has failed.';
  const tasks = asked.join(', ');
  if (live) return `Asked the running orchestrator to retry ${tasks}.`;
  return `${tasks}: new tries. Go on with: mahabharatha kurukshetra --feature ${feature} --resume`;
}
