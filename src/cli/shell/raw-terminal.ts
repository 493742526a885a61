import { run } from '../../lib/index.ts';
import type { CliContext } from '../command.ts';

/**
 * Passes keys and output on as they are, until the returned function is called. Not by Node's own raw mode, which changes
 * line ends in the output: programs that draw use them to move down.
 */
export async function rawTerminal({
  env,
  streams: { stdin },
  onForce,
}: Pick<CliContext, 'env' | 'streams' | 'onForce'>): Promise<() => Promise<void>> {
  const stty = (...args: string[]) => run('stty', args, { cwd: '/', env, input: stdin.fd });
  const before = await stty('-g').catch(() => undefined);
  if (before?.code !== 0) {
    stdin.setRawMode(true);
    return async () => void stdin.setRawMode(false);
  }
  const restore = async (): Promise<void> => void (await stty(before.stdout.trim()));
  onForce(restore);
  await stty('raw', '-echo');
  return restore;
}
