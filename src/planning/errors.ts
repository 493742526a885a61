import { defineErrors } from '../lib/app-error.ts';
import { bullets, counted } from '../lib/text/words.ts';

/** A graph of hundreds of tasks may have a problem with each. */
const MOST_PROBLEMS = 20;

function firstOf(problems: readonly string[]): readonly string[] {
  const more = problems.length - MOST_PROBLEMS;
  return more <= 0 ? problems : [...problems.slice(0, MOST_PROBLEMS), `… and ${more} more`];
}

export const planningErrors = defineErrors({
  REQUIREMENTS_MISSING: {
    kind: 'usage',
    example: { feature: 'login', file: '/repo/.mahabharatha/specs/login/requirements.md' },
    message: (f) => `The feature "${f.feature}" has no requirements: there is no ${f.file}.`,
    hint: (f) => `Write them with: mahabharatha plan ${f.feature} --description "…"`,
  },
  REQUIREMENTS_INCOMPLETE: {
    kind: 'usage',
    example: { feature: 'login', file: '/repo/.mahabharatha/specs/login/requirements.md', problems: ['line 9: …'] },
    message: (f) => `${f.file} cannot be approved, for ${counted(f.problems.length, 'reason')}:${bullets(f.problems)}`,
    hint: (f) => `Mend the file, then: mahabharatha approve ${f.feature}`,
  },
  REQUIREMENTS_NOT_APPROVED: {
    kind: 'usage',
    example: { feature: 'login', standing: 'stale' },
    message: (f) =>
      f.standing === 'stale'
        ? `The requirements of "${f.feature}" were changed after they were approved.`
        : `The requirements of "${f.feature}" are not approved.`,
    hint: (f) => `Read them, then: mahabharatha approve ${f.feature} — or design all the same with --force.`,
  },
  PLAN_WITHOUT_WORDS: {
    kind: 'usage',
    example: { feature: 'login' },
    message: (f) => `Nothing says what the feature "${f.feature}" is about.`,
    hint: (f) =>
      `Say it with --description "…", with --from <file>, or at a terminal with: mahabharatha plan ${f.feature}`,
  },
  REFINEMENT_UNUSABLE: {
    kind: 'work',
    example: { file: '/repo/.mahabharatha/specs/login/requirements.md', reason: 'the section "Users" is missing' },
    message: (f) => `${f.file} stays as it is: ${f.reason}.`,
    hint: () => 'Ask again; --agent names another agent.',
  },
  PLANNING_NAME_TAKEN: {
    kind: 'usage',
    example: { run: 'login.planning' },
    message: (f) =>
      `The run of an agent that plans has the name "${f.run}", and there is another run with that name. Nothing of it was removed.`,
    hint: (f) =>
      `Keep what you need of it: mahabharatha merge --feature ${f.run} — then: mahabharatha cleanup --feature ${f.run}`,
  },
  REFINEMENT_NEEDS_AGENT: {
    kind: 'environment',
    example: {
      file: '/repo/.mahabharatha/specs/login/requirements.md',
      reason: '"claude" is not on the PATH',
      remedy: 'Install it.',
    },
    message: (f) => `${f.file} is there, and only an agent can work new words into it: ${f.reason}.`,
    hint: (f) => `${f.remedy}\nOr change ${f.file} by hand.`,
  },
  DESIGN_NEEDS_AGENT: {
    kind: 'environment',
    /** `schema`: a file that describes the format of the graph. */
    example: {
      feature: 'login',
      file: '/repo/.mahabharatha/specs/login/task-graph.json',
      schema: '/usr/lib/node_modules/mahabharatha/schemas/task-graph.schema.json',
      reason: '"claude" is not on the PATH',
      remedy: 'Install it.',
    },
    message: (f) => `No agent can design "${f.feature}": ${f.reason}.`,
    hint: (f) =>
      `${f.remedy}\nFor another agent: --agent NAME, or "agent" in .mahabharatha/config.yaml.\nWithout one: write ${f.file} by hand — its format is in ${f.schema}, an example comes with: mahabharatha init — then: mahabharatha check ${f.feature}`,
  },
  DESIGN_INVALID: {
    kind: 'work',
    example: { file: '/repo/.mahabharatha/specs/login/task-graph.invalid.json', rounds: 3, problems: ['tasks[0]: …'] },
    message: (f) =>
      `The agent has given no valid task graph in ${counted(f.rounds, 'round')}. The last one has ${counted(f.problems.length, 'problem')}:${bullets(firstOf(f.problems))}`,
    hint: (f) =>
      `It is kept as ${f.file}, with all its problems beside it in task-graph.problems.txt: mend it and rename it to task-graph.json, or ask again.`,
  },
});
