// Plays an agent such as Claude Code: the prompt comes on stdin, and the work is done in the current folder. It writes the
// files that are recorded beside it for the task, and another recording when the prompt says that the first one failed.
import { cpSync, existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

const prompt = readFileSync(0, 'utf8');
const [, task] = /^# Task ([\w-]+):/.exec(prompt) ?? [];
const again = prompt.includes('## What went wrong in the last attempt');
const answers = ['second', 'first'].map((answer) => path.join(import.meta.dirname, String(task), answer));
const answer = answers.slice(again ? 0 : 1).find((folder) => existsSync(folder));
if (answer === undefined) {
  console.error(`Nothing is recorded for the task ${task}.`);
  process.exit(1);
}
if (again) console.log('The last attempt has failed: I have read why.');
for (const file of readdirSync(answer, { recursive: true, withFileTypes: true }))
  if (file.isFile())
    console.log(`I write ${path.relative(answer, path.join(file.parentPath ?? file.path, file.name))}`);
cpSync(answer, process.cwd(), { recursive: true });
