import { sleep } from '../../lib/index.ts';
import { refusal } from './cli.ts';
import type { Cli } from './cli.ts';
import { inspectContainer } from './inspect.ts';

const GONE_LOOK_MS = 50;

/** Resolves when nothing is left of it. */
export async function removeContainer(cli: Cli, id: string): Promise<void> {
  const what = `remove container ${id}`;
  if ((await inspectContainer(cli, id)) === undefined) return;
  const answer = await cli.ask({ what, args: ['delete', '--force', id], takes: 'slow' });
  const until = performance.now() + cli.limits.slowMs;
  while ((await inspectContainer(cli, id)) !== undefined) {
    if (performance.now() > until) throw refusal({ what }, answer, cli.place);
    await sleep(GONE_LOOK_MS);
  }
}
