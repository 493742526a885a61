// Does tasks with the peer, as its own templates do. Copied into the folder where the peer is installed: it is found from there.
import { execFileSync } from 'node:child_process';
import { run } from '@ai-hero/sandcastle';
import { docker } from '@ai-hero/sandcastle/sandboxes/docker';

const [, , folder, image, workers, commands] = process.argv;

/** The prompt is the command. */
const agent = {
  name: 'script',
  env: {},
  captureSessions: false,
  buildPrintCommand: ({ prompt }) => ({ command: prompt }),
  parseStreamLine: () => [],
};
const tasks = JSON.parse(commands).map((prompt, index) => ({ prompt, branch: `task-${index}` }));
const waiting = tasks.values();

async function work() {
  for (const { prompt, branch } of waiting) {
    const branchStrategy = { type: 'branch', branch };
    await run({ agent, sandbox: docker({ imageName: image }), cwd: folder, prompt, branchStrategy });
  }
}

await Promise.all(Array.from({ length: Number(workers) }, work));
const git = ['-c', 'user.name=bench', '-c', 'user.email=bench@localhost', 'merge', '--quiet', '--no-edit'];
for (const { branch } of tasks) execFileSync('git', [...git, branch], { cwd: folder, stdio: 'ignore' });
process.exit(0);
