import { line, printableJson } from '../../lib/index.ts';
import { openProject, stopRun } from '../../project/index.ts';
import type { Stopped } from '../../project/index.ts';
import type { CliContext, InputOf } from '../command.ts';
import type { stop } from '../commands/stop.ts';
import { featureFor } from '../feature-for.ts';

/** `stop`: says what has ended. */
export async function stopFeature(input: InputOf<typeof stop>, context: CliContext): Promise<number> {
  const project = await openProject(context);
  const feature = await featureFor(project, input.feature, 'see', context);
  const stopped = await stopRun(project, feature, context);
  const { kind } = stopped;
  const text = inWords(feature, stopped);
  context.out(line`${input.json ? printableJson({ type: kind, feature, text }) : text}\n`);
  return 0;
}

function inWords(feature: string, stopped: Stopped): string {
  switch (stopped.kind) {
    case 'nothing-to-stop':
      return `No run of "${feature}" is going on.`;
    case 'swept':
      return `The orchestrator of "${feature}" was gone; ended ${stopped.count} ${stopped.what} that it had left.`;
    case 'stopped': {
      const { state } = stopped;
      return `Run of "${feature}" is ${state?.status ?? 'gone'}${state?.cause == null ? '' : ` — ${state.cause}`}.`;
    }
  }
}
