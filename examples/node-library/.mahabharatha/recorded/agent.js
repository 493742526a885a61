// Plays an agent such as Claude Code: the prompt comes on stdin, and the work is done in the current folder. It writes the
// files that are recorded beside it for the task; when the prompt says that the first attempt has failed, those of the second.
import { cpSync, existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

const prompt = readFileSync(0, 'utf8');
const [, task] = /^# Task ([\w-]+):/.exec(prompt) ?? [];
const again = prompt.includes('## What went wrong in the last attempt');
if (again) console.log('The last attempt has failed: I have read why.');

const recorded = (again ? ['first', 'second'] : ['first'])
  .map((attempt) => path.join(import.meta.dirname, String(task), attempt))
  .filter((folder) => existsSync(folder));
if (recorded.length === 0) {
  console.error(`Nothing is recorded for the task ${task}.`);
  process.exitCode = 1;
}
for (const folder of recorded) {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) console.log(`I write ${path.relative(folder, path.join(entry.parentPath, entry.name))}`);
  cpSync(folder, process.cwd(), { recursive: true });
}
