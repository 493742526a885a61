import { firstLine, hasCode } from '../lib/index.ts';
import { gitErrors } from './errors.ts';
import { linesOf } from './git-command.ts';
import type { GitCommand } from './git-command.ts';
import { inHalves, readChanges, readTogether } from './tree-changes.ts';
import type { Changes } from './tree-changes.ts';

/** One merged task: its work is the change from `base` to `commit`; its merge moves the branch from `before` to `after`. */
export interface MergeStep {
  readonly task: string;
  readonly base: string;
  readonly commit: string;
  readonly before: string;
  readonly after: string;
}

/** Merges that are published together. */
export interface MergeChain {
  readonly from: string;
  readonly tip: string;
  readonly steps: readonly MergeStep[];
}

/**
 * Why a branch may not move along this chain; undefined when each merge changes what its task changed and nothing else.
 * That a merge ended well proves nothing: git 2.39 takes a missing tree for an empty one.
 */
export async function findMergeFault(git: GitCommand, chain: MergeChain): Promise<string | undefined> {
  try {
    return findGap(chain) ?? (await findMissing(git, chain)) ?? (await findWrongStep(git, chain));
  } catch (error) {
    if (!hasCode(error, gitErrors.GIT_FAILED)) throw error;
    return `git cannot read all of it: ${firstLine(error.facts.stderr.trim()) || error.facts.exit}`;
  }
}

function findGap({ from, tip, steps }: MergeChain): string | undefined {
  let at = from;
  for (const { task, before, after } of steps) {
    if (before !== at) return `the merge of ${task} is made on ${short(before)} and not on ${short(at)}`;
    at = after;
  }
  return at === tip ? undefined : `no merge leads to ${short(tip)}`;
}

/** Commits that the tip does not contain. Throws GIT_FAILED when an object of the chain is missing. */
async function findMissing(git: GitCommand, { from, tip, steps }: MergeChain): Promise<string | undefined> {
  const outside = await notContained(git, tip, [from, ...steps.map(({ commit }) => commit)]);
  if (outside.has(from)) return `${short(tip)} does not descend from ${short(from)}`;
  const lost = steps.find(({ commit }) => outside.has(commit));
  if (lost !== undefined) return `the commit of ${lost.task} is not in ${short(tip)}`;
  await git.text(['rev-list', '--objects', '--quiet', tip, `^${from}`]);
  return undefined;
}

/** Is a commit in the history of the tip? False when it is gone. */
export async function contains(git: GitCommand, tip: string, commit: string): Promise<boolean> {
  const { code } = await git.result(['merge-base', '--is-ancestor', commit, tip], { answers: [0, 1, 128] });
  return code === 0;
}

/** Those of the commits, and of their ancestors, that the tip does not contain. */
export async function notContained(
  git: GitCommand,
  tip: string,
  commits: readonly string[],
): Promise<ReadonlySet<string>> {
  const input = [...commits, `^${tip}`].map((line) => `${line}\n`).join('');
  const text = await git.text(['rev-list', '--stdin'], { input });
  return new Set(linesOf(text));
}

/** The commits that were merged on top of `from`, up to `to`; undefined when a commit between them is not a merge. */
export async function mergedOnTop(git: GitCommand, from: string, to: string): Promise<string[] | undefined> {
  const text = await git.text(['rev-list', '--first-parent', '--parents', to, `^${from}`]);
  const merges = linesOf(text).map((line) => line.split(' '));
  const isChain = merges.at(-1)?.[1] === from && merges.every(({ length }) => length === 3);
  return isChain ? merges.map(([, , merged = '']) => merged) : undefined;
}

async function findWrongStep(git: GitCommand, { steps }: MergeChain): Promise<string | undefined> {
  const wrong = await findWrongFiles(git, steps);
  const index = wrong.findIndex((files) => files.length > 0);
  const task = steps[index]?.task;
  if (task === undefined) return undefined;
  return `the merge of ${task} and the work of ${task} differ in ${wrong[index]?.join(', ')}`;
}

/** Of each step, the files in which the merge did not do what its task did. */
export function findWrongFiles(
  git: GitCommand,
  steps: readonly Omit<MergeStep, 'task'>[],
): Promise<readonly string[][]> {
  return inHalves(steps, (some) => wrongFilesOf(git, some));
}

async function wrongFilesOf(git: GitCommand, steps: readonly Omit<MergeStep, 'task'>[]): Promise<string[][]> {
  const pairs = steps.flatMap(({ base, commit, before, after }) => [
    { from: base, to: commit },
    { from: before, to: after },
  ]);
  const changes = await readTogether(git, pairs);
  return Promise.all(
    steps.map(async (step, index) => {
      const [work, merged] = changes.slice(2 * index, 2 * index + 2) as [Changes, Changes];
      const foreign = [...merged.keys()].filter((file) => !isWorkOf(work, merged, file));
      const unmoved = [...work.keys()].filter((file) => !merged.has(file));
      return [...foreign, ...(await findLost(git, step, unmoved))];
    }),
  );
}

/** The task changed the file, and the merge's result is the task's, unless another task had changed the file too. */
function isWorkOf(work: Changes, merged: Changes, file: string): boolean {
  const [own, there] = [work.get(file), merged.get(file)];
  return own !== undefined && (own.before !== there?.before || own.after === there.after);
}

/** Of the files that a task changed and its merge did not, those in which no other task had made the same change. */
async function findLost(
  git: GitCommand,
  { base, after }: Pick<MergeStep, 'base' | 'after'>,
  unmoved: readonly string[],
): Promise<string[]> {
  if (unmoved.length === 0) return [];
  const [all] = await readChanges(git, [{ from: base, to: after }]);
  return unmoved.filter((file) => all?.has(file) !== true);
}

const short = (commit: string): string => commit.slice(0, 12);
