import { withFront } from './approval.ts';
import { OPEN } from './requirements.ts';
import { asCell, asPart } from './sections.ts';

/** What a person has said about a feature. */
export interface Words {
  readonly problem: string;
  readonly users?: string;
  /** One requirement each. */
  readonly musts?: readonly string[];
  readonly shoulds?: readonly string[];
  readonly outOfScope?: readonly string[];
  readonly criteria?: readonly string[];
}

interface Named {
  readonly feature: string;
  readonly author: string;
  readonly at: Date;
}

/** Pure. A document with the person's words, and a mark wherever something is still to be said. */
export function requirementsTemplate({ feature, author, at }: Named, words: Words): string {
  const created = at.toISOString().slice(0, 10);
  const front = [`feature: ${feature}`, 'status: DRAFT', `created: ${created}`, `author: ${JSON.stringify(author)}`];
  const body = [
    `# ${feature}`,
    section('Problem', asPart(words.problem.trim()) || `${OPEN}: what is wrong today, and for whom?`),
    section('Users', asPart(words.users?.trim() ?? '') || `${OPEN}: who uses it, and what do they want to get done?`),
    section('Requirements', requirementRows(words)),
    section('Non-functional requirements', ['| id | requirement | priority |', '|---|---|---|'].join('\n')),
    section('In scope', bullets(words.musts, 'what is built')),
    section('Out of scope', bullets(words.outOfScope, 'what is not built, though one could expect it')),
    section('Acceptance criteria', bullets(words.criteria, 'what must be seen when it is done', '- [ ] ')),
    section('Test scenarios', SCENARIOS),
    section('Open questions', ['| id | question | priority | answer |', '|---|---|---|---|'].join('\n')),
  ];
  return withFront(front, `${body.join('\n\n')}\n`);
}

/** Pure. All of them, as one text. */
export function wordsText({ problem, users = '', musts, shoulds, criteria, outOfScope }: Words): string {
  const parts = [
    problem.trim(),
    users.trim() === '' ? '' : `Users: ${users.trim()}`,
    listBelow('Must', musts),
    listBelow('Should', shoulds),
    listBelow('Seen when it is done', criteria),
    listBelow('Not built', outOfScope),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

const listBelow = (title: string, items: readonly string[] = []): string =>
  items.length === 0 ? '' : `${title}:\n${items.map((item) => `- ${item}`).join('\n')}`;

const section = (title: string, text: string): string => `## ${title}\n\n${text}`;

function requirementRows({ musts = [], shoulds = [] }: Words): string {
  const all = [...musts.map((text) => [text, 'Must']), ...shoulds.map((text) => [text, 'Should'])];
  const rows = all.length > 0 ? all : [[`${OPEN}: what it must do`, 'Must']];
  const lines = rows.map(([text = '', priority], index) => {
    return `| R-${String(index + 1).padStart(3, '0')} | ${asCell(text)} | ${priority} |`;
  });
  return ['| id | requirement | priority |', '|---|---|---|', ...lines].join('\n');
}

const SCENARIOS = [
  '| id | given | when | then |',
  '|---|---|---|---|',
  `| S-001 | ${OPEN}: the state before | what happens | what is seen |`,
].join('\n');

function bullets(items: readonly string[] = [], missing: string, mark = '- '): string {
  return (items.length > 0 ? items : [`${OPEN}: ${missing}`]).map((item) => `${mark}${asCell(item)}`).join('\n');
}
