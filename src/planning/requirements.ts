import { clip } from '../lib/text/words.ts';
import { parseDocument, rowsOf, textOf } from './sections.ts';
import type { Document, Row, Section } from './sections.ts';

export const PRIORITIES = ['Must', 'Should', 'Could'] as const;
export type Priority = (typeof PRIORITIES)[number];

/** What a person still has to write. */
export const OPEN = 'TODO';

export interface Requirement {
  readonly id: string;
  readonly text: string;
  readonly priority: Priority;
}

export interface Requirements {
  readonly document: Document;
  /** With those that are not functional. */
  readonly requirements: readonly Requirement[];
  /** What keeps it from being approved, each with its line. */
  readonly problems: readonly string[];
  /** Those of the problems that say that a whole part is not there. */
  readonly gaps: readonly string[];
  /** Those of the problems that only a person can solve. */
  readonly questions: readonly string[];
}

interface Problem {
  readonly text: string;
  readonly kind: 'gap' | 'question' | 'fault';
}

const as = (kind: Problem['kind'], ...texts: readonly string[]): Problem[] => texts.map((text) => ({ text, kind }));

/** What a section must have. */
type Check = (section: Section) => readonly Problem[];

const SECTIONS: readonly (readonly [title: string, check: Check])[] = [
  ['Problem', hasText],
  ['Users', hasText],
  ['Requirements', hasMust],
  ['Non-functional requirements', () => []],
  ['In scope', hasText],
  ['Out of scope', hasText],
  ['Acceptance criteria', hasText],
  ['Test scenarios', hasScenarios],
  ['Open questions', hasNoOpenMust],
];

/** Both have ids, and what they ask for is to be covered by tasks. */
const WITH_IDS = ['Requirements', 'Non-functional requirements'];
const ID = /^[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)*-?\d+$/i;
/** The expression takes the square of the length, and agents write ids. */
const LONGEST_ID = 64;

/** Pure. Reads the document of a feature, and says what is missing. */
export function parseRequirements(text: string): Requirements {
  const document = parseDocument(text);
  const found = SECTIONS.map(([title, check]) => [title, check, sectionOf(document, title)] as const);
  const problems = found.flatMap(([title, check, section]) =>
    section === undefined
      ? as('gap', `the section "${title}" is missing`)
      : [...check(section), ...as('fault', ...openParts(section))],
  );
  const rows = WITH_IDS.flatMap((title) => {
    const section = sectionOf(document, title);
    return section === undefined ? [] : rowsOf(section);
  });
  const all = [...problems, ...as('fault', ...rows.flatMap(rowProblems), ...repeatedIds(rows))];
  return {
    document,
    requirements: rows.flatMap(requirementOf),
    problems: textsOf(all),
    gaps: textsOf(all.filter(({ kind }) => kind === 'gap')),
    questions: textsOf(all.filter(({ kind }) => kind === 'question')),
  };
}

const textsOf = (those: readonly Problem[]): string[] => those.map(({ text }) => text).toSorted(byLine);
const byLine = (one: string, other: string): number => lineIn(one) - lineIn(other);
const lineIn = (problem: string): number => Number(/^line (\d+)/.exec(problem)?.[1] ?? 0);

/** Parts of headings such as "3. Requirements" and "### In scope" do not matter. */
function sectionOf({ sections }: Document, title: string): Section | undefined {
  const wanted = title.toLowerCase();
  return sections.find((section) => section.title.replace(/^[\d.]+\s+/, '').toLowerCase() === wanted);
}

function hasText(section: Section): readonly Problem[] {
  return textOf(section) === '' ? as('gap', `line ${section.line}: "${section.title}" is empty`) : [];
}

function openParts({ lines, title }: Section): readonly string[] {
  return lines
    .filter(({ text }) => new RegExp(`\\b${OPEN}\\b`).test(text))
    .map(({ number }) => `line ${number}: "${title}" still has a ${OPEN}`);
}

function hasMust(section: Section): readonly Problem[] {
  const rows = rowsOf(section);
  if (rows.length === 0)
    return as('gap', `line ${section.line}: there is no table of requirements: | id | requirement | priority |`);
  if (rows.some(({ cells }) => priorityOf(cells['priority']) === 'Must')) return [];
  return as('fault', `line ${section.line}: no requirement has the priority Must`);
}

function rowProblems({ line, cells }: Row): readonly string[] {
  const { id = '', requirement = '', priority = '' } = cells;
  const problems = [
    isId(id) ? undefined : `"${clip(id, LONGEST_ID)}" is no id such as R-001`,
    requirement === '' ? `${id} says nothing` : undefined,
    priorityOf(priority) === undefined ? `"${priority}" is none of ${PRIORITIES.join(', ')}` : undefined,
  ];
  return problems.flatMap((problem) => (problem === undefined ? [] : [`line ${line}: ${problem}`]));
}

const isId = (text: string): boolean => text.length <= LONGEST_ID && ID.test(text);

function repeatedIds(rows: readonly Row[]): readonly string[] {
  const first = new Map<string, number>();
  return rows.flatMap(({ line, cells: { id = '' } }) => {
    const before = first.get(id);
    if (before === undefined) first.set(id, line);
    return before === undefined ? [] : [`line ${line}: ${id} is already the id of line ${before}`];
  });
}

function requirementOf({ cells: { id = '', requirement = '', priority } }: Row): readonly Requirement[] {
  const known = priorityOf(priority);
  return known === undefined || id === '' ? [] : [{ id, text: requirement, priority: known }];
}

const priorityOf = (text = ''): Priority | undefined =>
  PRIORITIES.find((priority) => priority.toLowerCase() === text.toLowerCase());

const STEPS = ['given', 'when', 'then'] as const;

function hasScenarios(section: Section): readonly Problem[] {
  const rows = rowsOf(section);
  if (rows.length === 0)
    return as('gap', `line ${section.line}: there is no table of scenarios: | id | given | when | then |`);
  return rows.flatMap(({ line, cells }) => {
    const missing = STEPS.filter((step) => (cells[step] ?? '') === '');
    return as('fault', ...missing.map((step) => `line ${line}: the scenario has no "${step}"`));
  });
}

function hasNoOpenMust(section: Section): readonly Problem[] {
  const open = rowsOf(section).filter(
    ({ cells }) => priorityOf(cells['priority']) === 'Must' && (cells['answer'] ?? '') === '',
  );
  return as(
    'question',
    ...open.map(({ line, cells }) => `line ${line}: the question ${cells['id'] ?? ''} must be answered before`),
  );
}
