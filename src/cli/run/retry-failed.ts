import { line, printableJson } from '../../lib/index.ts';
import { openProject, retryTasks } from '../../project/index.ts';
import type { CliContext, InputOf } from '../command.ts';
import type { retry } from '../commands/retry.ts';
import { featureFor } from '../feature-for.ts';

/** `retry`: says which tasks get new tries, and what to do next. */
export async function retryFailed(input: InputOf<typeof retry>, context: CliContext): Promise<number> {
  const project = await openProject(context);
  const feature = await featureFor(project, input.feature, 'see', context);
  const { live, asked: tasks } = await retryTasks(project, feature, input.argument);
  const text = inWords(feature, tasks, live);
  const facts = { type: 'retry', feature, tasks, text };
  context.out(line`${input.json ? printableJson(facts) : text}\n`);
  return 0;
}

function inWords(feature: string, asked: readonly string[], live: boolean): string {
  if (asked.length === 0) return 'No task has failed.';
  const tasks = asked.join(', ');
  if (live) return `Asked the running orchestrator to retry ${tasks}.`;
  return `${tasks}: new tries. Go on with: mahabharatha kurukshetra --feature ${feature} --resume`;
}
