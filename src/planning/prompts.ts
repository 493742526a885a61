import type { Requirement } from './requirements.ts';
import { wordsText } from './template.ts';
import type { Words } from './template.ts';

/** Where agents write what they plan: no folder of the repository has this name. */
export const ANSWERS = 'mahabharatha-answer';

const READ_ONLY = `Read the repository as much as you need. Change nothing in it but the files named here: everything else that you write is thrown away, and makes the answer invalid. There is no one to answer questions: what you cannot know goes where the document has a place for it.`;

export interface RequirementsQuestion {
  readonly feature: string;
  /** What a person has said. */
  readonly words: Words;
  /** What it begins with: a template with the words, or what is to be refined. */
  readonly document: string;
  /** Empty in the first round. */
  readonly last: string;
  /** What is wrong with the last answer. */
  readonly problems: readonly string[];
}

/** Pure. Asks for the requirements of a feature. */
export function requirementsPrompt({ feature, words, document, last, problems }: RequirementsQuestion): string {
  return joined([
    `Write the requirements of the feature "${feature}" of this repository, so that a person can approve them.`,
    READ_ONLY,
    `Write the whole document to ${ANSWERS}/requirements.md. Keep its front matter, its headings and the columns of its tables. Requirements have ids (R-001), and priorities Must, Should or Could; those that are not functional have ids N-001. Each scenario has given, when and then. What a person must decide is a row of "Open questions", with the priority Must when nothing can be built without the answer. Leave no "TODO". Keep what a person has written, and the ids that are there.`,
    quoted('What the person says', wordsText(words)),
    quoted('The document to begin with', document),
    quoted('Your last answer', last),
    listed('What was wrong with your last answer', problems),
  ]);
}

export interface DesignQuestion {
  readonly feature: string;
  readonly requirements: string;
  readonly ids: readonly Requirement[];
  readonly problems: readonly string[];
}

/** Pure. Asks for a design and a task graph. */
export function designPrompt({ feature, requirements, ids, problems }: DesignQuestion): string {
  return joined([
    `Design the feature "${feature}" of this repository, and cut the work into tasks that several workers can do at the same time.`,
    READ_ONLY,
    `Write two files. ${ANSWERS}/design.md: how it is built, which files change and why, what was decided against. ${ANSWERS}/task-graph.json: the tasks, in this form:`,
    EXAMPLE,
    RULES,
    `Every requirement must be covered: name its id in "requirements" of the task that does it. What no task does is named in design.md, in a section "Not covered", with its id and the reason. The ids: ${ids.map(({ id, priority }) => `${id} (${priority})`).join(', ') || 'none'}.`,
    quoted('The requirements', requirements),
    listed('What was wrong with your last answer', problems),
  ]);
}

const EXAMPLE = `\`\`\`json
{ "feature": "login", "version": "2.0",
  "tasks": [ { "id": "LOGIN-001", "title": "Check passwords", "description": "What to do, with all that a worker must know who sees only this task.",
    "dependencies": [], "files": { "create": ["src/password.ts"], "modify": [], "delete": [], "read": ["src/user.ts"] },
    "requirements": ["R-001"], "acceptance_criteria": ["…"],
    "verification": { "command": "npm test -- password", "timeout_seconds": 120 } } ] }
\`\`\``;

const RULES = `- A task is one worker's work of 5 to 30 minutes. It may only change the files in its "create" and "modify", and remove those in its "delete" (paths or globs); two tasks that do not depend on each other never name the same file in these lists.
- "dependencies" are ids of tasks whose result the task needs. Tasks without a dependency between them run at the same time, so the fewer the better.
- "verification" is one command that fails when the task is not done, and needs nothing that only a later task makes.`;

const joined = (parts: readonly string[]): string => `${parts.filter((part) => part !== '').join('\n\n')}\n`;

/** Longer than any fence inside. */
function quoted(title: string, text: string): string {
  if (text.trim() === '') return '';
  const fences = [...text.matchAll(/^`{3,}/gm)];
  const longest = fences.reduce((most, [found]) => Math.max(most, found.length + 1), 3);
  const fence = '`'.repeat(longest);
  return `${title}:\n\n${fence}\n${text.trim()}\n${fence}`;
}

const listed = (title: string, items: readonly string[]): string =>
  items.length === 0 ? '' : `${title}. Correct it:\n\n${items.map((item) => `- ${item}`).join('\n')}`;
