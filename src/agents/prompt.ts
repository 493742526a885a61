import type { TaskBrief } from '../protocol/index.ts';

const RULES = `## Rules

- Work in the current folder.
- Do not commit, and do not change anything with git: your changes to files are committed for you.
- There is no one to answer questions. Decide for yourself, and finish the task in this one session.`;

/** An agent's prompt: the task, its limits, and what went wrong the last time. */
export function buildPrompt(task: TaskBrief, feedback: string | null): string {
  const sections = [
    `# Task ${task.id}: ${task.title}`,
    task.description.trim(),
    section('Acceptance criteria', bullets(task.acceptanceCriteria)),
    section('Files', files(task)),
    section('Context', task.context.trim()),
    section('How the work is checked', check(task.verification)),
    RULES,
    section('What went wrong in the last attempt', lastAttempt(feedback)),
  ];
  return `${sections.filter((text) => text !== '').join('\n\n')}\n`;
}

function section(title: string, body: string): string {
  return body === '' ? '' : `## ${title}\n\n${body}`;
}

function bullets(items: readonly string[]): string {
  return items.map((item) => `- ${item}`).join('\n');
}

function files({ create, modify, read, ...task }: TaskBrief): string {
  const mayWrite = create.length + modify.length + task.delete.length > 0;
  const parts = [
    fileList('Create', create),
    fileList('Modify', modify),
    fileList('Delete', task.delete),
    fileList('Read, but do not change', read),
    mayWrite ? `${only(task.delete)} only these files: a change to any other file makes the attempt fail.` : '',
  ];
  return parts.filter((text) => text !== '').join('\n\n');
}

const only = (deleted: readonly string[]): string =>
  deleted.length === 0 ? 'Create and change' : 'Create, change and delete';

function fileList(title: string, paths: readonly string[]): string {
  return paths.length === 0 ? '' : `${title}:\n${bullets(paths)}`;
}

function check(verification: TaskBrief['verification']): string {
  if (verification === null) return '';
  return `This command must succeed. Run it yourself before you finish:\n\n${indented(verification.command)}`;
}

function indented(text: string): string {
  return text.trim().replaceAll(/^/gm, '    ');
}

function lastAttempt(feedback: string | null): string {
  if (feedback === null || feedback.trim() === '') return '';
  return `An earlier attempt at this task was rejected for this reason. Correct it.\n\n<feedback>\n${feedback.trim()}\n</feedback>`;
}
