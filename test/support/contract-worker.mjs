/* oxlint-disable unicorn/no-process-exit -- it is a program */
// A worker for the tests of launchers: its environment says how it behaves.
import { spawn } from 'node:child_process';

const say = (line) => process.stdout.write(`${line}\n`);

const { CONTRACT_PRINT, CONTRACT_EXIT, CONTRACT_TERM, CONTRACT_CHILDREN } = await environment();

process.on('SIGTERM', () => {
  say('asked to stop');
  if (CONTRACT_TERM !== 'ignore') process.exit(Number(CONTRACT_TERM ?? 0));
});
process.stdin.on('end', () => {
  say('stdin ended');
  process.exit(0);
});
process.stdin.resume();

if (CONTRACT_PRINT !== undefined) say(CONTRACT_PRINT);
if (CONTRACT_CHILDREN !== undefined) startChildren();
if (CONTRACT_EXIT !== undefined) process.exit(Number(CONTRACT_EXIT));
say('ready');

/** In a container it comes as the first line of stdin. */
async function environment() {
  if (process.env.MAHABHARATHA_HANDOVER === undefined) return process.env;
  let text = '';
  while (!text.includes('\n')) text += await new Promise((resolve) => process.stdin.once('data', resolve));
  return JSON.parse(text.split('\n')[0]).env;
}

/** One in a session of its own, one whose parent is gone as well. */
function startChildren() {
  const env = { ...process.env, MAHABHARATHA_CHILD: '1' };
  const options = { env, detached: true, stdio: ['ignore', 'inherit', 'ignore'] };
  spawn('bash', ['-c', 'echo "child $$"; exec sleep 1000'], options);
  spawn('bash', ['-c', 'sleep 1000 >&- & echo "child $!"'], options);
}
