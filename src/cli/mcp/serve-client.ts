import { findEngine } from '../../engines/index.ts';
import { libErrors, line } from '../../lib/index.ts';
import { openContainers, serveOnStdio } from '../../mcp/index.ts';
import type { CliContext, InputOf } from '../command.ts';
import type { mcp } from '../commands/mcp.ts';
import { readyImage } from '../images/ready-image.ts';

/** `mcp`: stdout belongs to the protocol alone. */
export async function serveClient(_: InputOf<typeof mcp>, context: CliContext): Promise<number> {
  const mode = context.env['EXECUTION_MODE'] || 'container';
  if (mode !== 'container')
    throw libErrors.USAGE({
      problem: `There is no execution mode "${mode}" yet.`,
      hint: 'Set EXECUTION_MODE to "container", or leave it out.',
    });
  const engine = await findEngine(context.env);
  const quiet = { ...context, out: context.err };
  const runtimeImage = await readyImage(engine, { use: 'sandbox', json: false }, quiet);
  const base = context.env['BUN_RUNNER_BASE'] || undefined;
  const { tag } = await readyImage(engine, { use: 'bun', base, json: false }, quiet);
  const { version, env } = context;
  const onNote = (note: string): void => context.err(line`${note}\n`);
  const wish = { engine, runtimeImage, image: tag, env, onNote };
  const open = (closing: (() => Promise<unknown>)[]) => openContainers(wish, closing);
  await serveOnStdio({ version, onNote, open }, context.interrupted);
  return 0;
}
