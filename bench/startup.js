import { formatSpread, interleave, ratios, summarize, timed } from './measure.js';
import { CLI, runProgram } from './program.js';

const AIM = 4;

/** What a person waits for before the first letter: the program's start against Node's own. */
export async function measureStartup({ quick }) {
  const contestants = {
    node: () => timed(() => runProgram(process.execPath, ['-e', '0'])),
    help: () => timed(() => runProgram(process.execPath, [CLI, '--help'])),
  };
  await interleave(contestants, 2); // The first start reads from the disk, all others from memory.
  const { node, help } = await interleave(contestants, quick ? 10 : 40);
  const ratio = summarize(ratios(help, node));
  return {
    title: 'Start-up: `--help`',
    rows: [
      ['mahabharatha --help', formatSpread(summarize(help), ' ms')],
      ['node -e 0', formatSpread(summarize(node), ' ms')],
      ['ratio', formatSpread(ratio, '', 2)],
    ],
    aims: [{ what: '--help against node -e 0', value: ratio.median, limit: AIM }],
    raw: { help, node },
  };
}
