import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from './project.ts';

const STREAMS = fileURLToPath(new URL('../testdata/claude-streams', import.meta.url));

async function stream(name: string): Promise<string[]> {
  return (await readFile(path.join(STREAMS, `${name}.jsonl`), 'utf8')).trimEnd().split('\n');
}

/** What is reported once while the agent below waits. */
export const WAITING = 'the model cannot be reached; Claude Code tries again';

/**
 * The lines of a configuration with a Claude Code that cannot reach its model, and tries that again, until there is a
 * file "go"; then it speaks, and does its task when there is a file "end".
 */
export async function waitingClaude(project: TestProject): Promise<string> {
  const [init, ...tries] = (await stream('unreachable')).filter((line) => line.includes('"type":"system"'));
  await writeFile(path.join(project.outside, 'tries'), [init, ...tries, ''].join('\n'));
  const answers = await stream('success');
  await writeFile(path.join(project.outside, 'words'), [...answers.slice(0, -1), ''].join('\n'));
  await writeFile(path.join(project.outside, 'result'), [...answers.slice(-1), ''].join('\n'));
  const program = path.join(project.outside, 'claude');
  const text = `#!/bin/bash
if [ "$1" = --version ]; then echo 2.1.0; exit; fi
cat > /dev/null
cat "$OUTSIDE/tries"
until [ -e "$OUTSIDE/go" ]; do sleep 0.02; done
cat "$OUTSIDE/words"
until [ -e "$OUTSIDE/end" ]; do sleep 0.02; done
cat "$OUTSIDE/result"
echo done > "$MAHABHARATHA_TASK.txt"
`;
  await writeFile(program, text, { mode: 0o755 });
  return `claude: { command: "${program}" }\n`;
}
