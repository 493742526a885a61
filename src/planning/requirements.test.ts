import { describe, expect, it } from 'vitest';
import { REQUIREMENTS } from '../../test/support/requirements-document.ts';
import { approvalOf, approved, asDraft } from './approval.ts';
import { requirementsPrompt } from './prompts.ts';
import { parseRequirements } from './requirements.ts';
import { coverageOf } from './coverage.ts';
import { requirementsTemplate } from './template.ts';

const named = { feature: 'login', author: 'Ann <ann@example.org>', at: new Date('2026-05-01T10:00:00Z') };

const WHOLE = REQUIREMENTS.replace('| Log in |', '| Log in by mail \\| name |')
  .replace('| Log out | Should |', '| Remember the user | should |')
  .replace('\n\n### In scope', '\n| N-001 | Below 1 s | Could |\n\n### In scope')
  .concat('| Q-001 | Which mail? | Must | ours |\n| Q-002 | Colour? | Could | |\n');

const without = (text: string, ...replaced: [from: string | RegExp, to: string][]): readonly string[] =>
  parseRequirements(replaced.reduce((all, [from, to]) => all.replace(from, to), text)).problems;

describe('the requirements of a feature', () => {
  it('are read from their tables, whatever numbers the headings have', () => {
    const { problems, requirements } = parseRequirements(WHOLE);
    expect(problems).toEqual([]);
    expect(requirements).toEqual([
      { id: 'R-001', text: 'Log in by mail | name', priority: 'Must' },
      { id: 'R-002', text: 'Remember the user', priority: 'Should' },
      { id: 'N-001', text: 'Below 1 s', priority: 'Could' },
    ]);
    expect(parseRequirements(WHOLE.replaceAll('\n', '\r\n')).problems).toEqual([]);
  });

  it.each<[string | RegExp, string, RegExp]>([
    [/## Users\nEveryone.\n/, '', /^the section "Users" is missing$/],
    ['Everyone.', '', /^line 11: "Users" is empty$/],
    ['Everyone.', '<!-- nothing\nyet -->', /"Users" is empty/],
    ['Everyone.', 'TODO: who?', /^line 12: "Users" still has a TODO$/],
    ['R-002', 'R-001', /^line 18: R-001 is already the id of line 17$/],
    ['R-002', 'N-001', /^line 23: N-001 is already the id of line 18$/],
    ['R-002', 'second', /^line 18: "second" is no id such as R-001$/],
    ['Remember the user', '', /R-002 says nothing/],
    ['| should |', '| now |', /"now" is none of Must, Should, Could/],
    ['| Must |\n| R-002', '| Should |\n| R-002', /^line 14: no requirement has the priority Must$/],
    ['| logs in |', '|  |', /the scenario has no "when"/],
    ['| Must | ours |', '| Must | |', /the question Q-001 must be answered before/],
    [/\| S-001.*\n/, '', /there is no table of scenarios/],
  ])('without %j say what is missing', (from, to, problem) => {
    expect(without(WHOLE, [from, to])).toEqual([expect.stringMatching(problem)]);
  });

  it('tell what only a person can answer, and which parts are not there, from the rest', () => {
    const text = WHOLE.replace('| Must | ours |', '| Must | |')
      .replace('Everyone.', '')
      .replace('- sign up', 'TODO')
      .replace(/\| S-001.*\n/, '');
    const { problems, gaps, questions } = parseRequirements(text);
    expect(problems).toHaveLength(4);
    expect(questions).toEqual([expect.stringContaining('Q-001 must be answered')]);
    expect(gaps).toEqual([
      expect.stringContaining('"Users" is empty'),
      expect.stringContaining('no table of scenarios'),
    ]);
    expect(parseRequirements('').gaps).toHaveLength(9);
    expect(parseRequirements('## Users\nWhat must be answered before: nothing\n').questions).toEqual([]);
  });

  it('in a block of code are no section', () => {
    expect(without(WHOLE, ['## Users\nEveryone.', '```\n## Users\nEveryone.\n```'])).toEqual([
      'the section "Users" is missing',
    ]);
  });

  it('begin as a template with the words of the person, and a mark for all that is missing', () => {
    const text = requirementsTemplate(named, { problem: 'People | cannot log in.' });
    expect(text).toMatch(
      /^---\nfeature: login\nstatus: DRAFT\ncreated: 2026-05-01\nauthor: "Ann <ann@example.org>"\n---\n/,
    );
    expect(text).toContain('People | cannot log in.');
    const { problems } = parseRequirements(text);
    expect(problems.length).toBeGreaterThan(4);
    for (const problem of problems) expect(problem).toMatch(/^line \d+: ".*" still has a TODO$/);
    const said = { problem: 'p', users: 'u', musts: ['a|b', 'c'], shoulds: ['d'], outOfScope: ['e'], criteria: ['f'] };
    const prompt = requirementsPrompt({
      feature: 'login',
      words: said,
      document: text,
      last: 'l',
      problems: ['wrong'],
    });
    expect(prompt).toContain(
      'p\n\nUsers: u\n\nMust:\n- a|b\n- c\n\nShould:\n- d\n\nSeen when it is done:\n- f\n\nNot built:\n- e',
    );
    for (const part of [text.trim(), '\nl\n', '- wrong']) expect(prompt).toContain(part);
    expect(parseRequirements(requirementsTemplate(named, said)).requirements).toMatchObject([
      { id: 'R-001', text: 'a|b', priority: 'Must' },
      { id: 'R-002', priority: 'Must' },
      { id: 'R-003', text: 'd', priority: 'Should' },
    ]);
  });
});

it('notes with headings and code of their own stay within the section that they are put into', () => {
  const problemsWith = (problem: string): readonly string[] =>
    parseRequirements(requirementsTemplate(named, { problem })).problems.map((text) => text.replace(/^line \d+: /, ''));
  const notes = '# Login\n\n## Requirements\n\nIt is fast.\n\n~~~\n# a comment\n~~~\n## Users\n\n```\n# an open end';
  const text = requirementsTemplate(named, { problem: notes });
  expect(problemsWith(notes)).toEqual(problemsWith('It is fast.'));
  expect(text).toContain('\\## Users\n\n```\n# an open end\n```\n\n## Users\n');
  expect(text).toContain('~~~\n# a comment\n~~~\n');
});

describe('the approval of a document', () => {
  const by = { by: 'Ann <ann@example.org>', at: named.at };

  it('is of its words: a change makes it stale', () => {
    expect(approvalOf(WHOLE)).toEqual({ standing: 'draft', by: null, at: null });
    const text = approved(WHOLE, by);
    expect(approvalOf(text)).toEqual({ standing: 'approved', by: by.by, at: '2026-05-01T10:00:00.000Z' });
    expect(approvalOf(text.replace('Everyone', 'Some')).standing).toBe('stale');
    expect(approvalOf(text.replace('| should |', '| Must |')).standing).toBe('stale');
    expect(approvalOf(`${text.replaceAll('\n', '\r\n')}\r\n`).standing).toBe('approved');
    expect(parseRequirements(text).problems).toEqual([]);
  });

  it('leaves the front matter that a person has written as it is', () => {
    const own = 'Reviewers:\n  - anna\n# of the board\ndue-date: "2026-06-01"\n';
    const text = WHOLE.replace('---\n', `---\n${own}`);
    expect(text).toContain(own);
    const signed = approved(text, by);
    expect(signed).toContain(own);
    expect(asDraft(signed)).toContain(own);
    expect(approvalOf(approved(asDraft(signed), by)).standing).toBe('approved');
    expect(approved(signed, by)).toBe(signed);
  });

  it('is not there when only the status says so', () => {
    expect(approvalOf(WHOLE.replace('DRAFT', 'APPROVED')).standing).toBe('stale');
  });

  it('goes when the document becomes a draft again, and comes again', () => {
    const draft = asDraft(approved(WHOLE, by));
    expect(approvalOf(draft).standing).toBe('draft');
    expect(draft).not.toContain('approved_');
    expect(approvalOf(approved(draft, by)).standing).toBe('approved');
    expect(approvalOf(approved('no front matter\n', by)).standing).toBe('approved');
  });
});

describe('a requirement', () => {
  const requirements = parseRequirements(WHOLE).requirements;
  const missing = (description: string): readonly string[] =>
    coverageOf(requirements, { tasks: [{ id: 'A', description }] }, '').missing;

  it('is covered by a task that names it anywhere, and not by one that names another', () => {
    expect(missing('Covers:\nR-001\n\tR-002, and\r\nN-001')).toEqual([]);
    expect(missing('R-0011 R-002-b xN-001')).toEqual(['R-001', 'R-002', 'N-001']);
  });
});

describe('a text that was made to take long', () => {
  const many = 200_000;
  it.each([
    ['a heading of marks', `## a${' #'.repeat(many)}b\n## ${'#'.repeat(many)}x`],
    ['front matter of blanks', `---\na:${' '.repeat(many)}b\n---\n`],
    ['a line of blanks', `## Users\n${' '.repeat(many)}x`],
    ['comments that do not end', `## Users\n${'<!--'.repeat(many)}`],
    ['a table of bars', `## Requirements\n${`${'|'.repeat(100_000)}\n`.repeat(3)}${'|\n'.repeat(20_000)}`],
    ['fences', '```\n'.repeat(many)],
    [
      'an id of digits',
      `## Requirements\n| id | requirement | priority |\n|---|---|---|\n| A${'1'.repeat(many)}! | x | Must |`,
    ],
  ])('is read in one pass: %s', (_, text) => {
    expect(parseRequirements(text).problems).not.toEqual([]);
    expect(approvalOf(text).standing).toBe('draft');
    expect(approved(text, { by: 'Ann', at: named.at })).toContain('status: APPROVED');
    expect(coverageOf([], {}, text).missing).toEqual([]);
    const question = { feature: 'login', words: { problem: 'x' }, document: '', last: text, problems: [] };
    expect(requirementsPrompt(question).length).toBeGreaterThan(text.trim().length);
  });
});
