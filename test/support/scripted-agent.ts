import { readFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { TestProject } from './project.ts';

/** Keeps each prompt, then does what the script for this attempt of this task says. */
const AGENT = `
number=$(($(ls "$OUTSIDE" | grep -c "^prompt-$MAHABHARATHA_TASK-") + 1))
cat > "$OUTSIDE/prompt-$MAHABHARATHA_TASK-$number"
. "$OUTSIDE/do-$MAHABHARATHA_TASK-$number"
`;

/** One shell script per attempt, by task. */
export type AgentScripts = Readonly<Record<string, readonly string[]>>;

/** Lines of a configuration that choose the scripted agent. */
export async function scriptedAgent(project: TestProject, scripts: AgentScripts): Promise<string> {
  const program = path.join(project.outside, 'agent.sh');
  await writeFile(program, AGENT);
  for (const [task, attempts] of Object.entries(scripts)) {
    for (const [index, script] of attempts.entries()) {
      await writeFile(path.join(project.outside, `do-${task}-${index + 1}`), `${script}\n`);
    }
  }
  return `agent: scripted\nagents: { scripted: { command: [bash, "${program}"] } }\n`;
}

/** The prompts of a task's attempts so far, first to last. */
export async function promptsOf(project: TestProject, task: string): Promise<string[]> {
  const files = (await readdir(project.outside)).filter((file) => file.startsWith(`prompt-${task}-`));
  return Promise.all(
    files
      .toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true }))
      .map((file) => readFile(path.join(project.outside, file), 'utf8')),
  );
}
