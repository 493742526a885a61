import { rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRepository } from '../../src/git/index.ts';
import type { MergeChain, MergeStep, Repository } from '../../src/git/index.ts';
import { findMergeFault } from '../../src/git/merge-proof.ts';
import { readChanges } from '../../src/git/tree-changes.ts';
import { tempRepository } from '../support/temp-repository.ts';
import type { TempRepository } from '../support/temp-repository.ts';

interface Scene {
  readonly temp: TempRepository;
  readonly repository: Repository;
  readonly base: string;
  /** A commit on the base, as an attempt makes it. */
  attempt(files: Readonly<Record<string, string>>, base?: string): string;
  /** Merges the attempts one after the other. */
  merge(commits: Readonly<Record<string, string>>): Promise<MergeChain & { steps: MergeStep[] }>;
}

async function setScene(): Promise<Scene> {
  const temp = tempRepository();
  const base = temp.commit({ 'src/deep/a.txt': 'a\n', 'src/b.txt': '1\n2\n3\n4\n5\n6\n7\n', 'docs/c.txt': 'c\n' });
  const repository = await openRepository(temp.folder, temp.env);
  return {
    temp,
    repository,
    base,
    attempt: (files, from = base) => {
      temp.git('checkout', '--quiet', '--detach', from);
      return temp.commit(files);
    },
    merge: async (commits) => {
      const steps: MergeStep[] = [];
      let tip = base;
      for (const [task, commit] of Object.entries(commits)) {
        const merged = await repository.merge({ tip, commit, message: `Merge ${task}` });
        if (merged.kind !== 'merged') throw new Error(`${task} was called a conflict`);
        steps.push({ task, base, commit, before: tip, after: merged.commit });
        tip = merged.commit;
      }
      return { from: base, tip, steps };
    },
  };
}

/** A commit with the tree of another commit and these parents. */
function forge(temp: TempRepository, tree: string, ...parents: string[]): string {
  return temp.git('commit-tree', `${tree}^{tree}`, ...parents.flatMap((one) => ['-p', one]), '-m', 'forged');
}

describe('a long chain of large merges', () => {
  it('is looked at in parts when git prints too much for all of it at once', async () => {
    const { repository, attempt, merge, temp } = await setScene();
    const attempts = ['A', 'B', 'C', 'D', 'E'].map((id) => [id, attempt({ [`${id}.txt`]: `${id}\n` })] as const);
    const chain = await merge(Object.fromEntries(attempts));
    const lists: number[] = [];
    const git: typeof repository.git = {
      ...repository.git,
      text: (args, options) => {
        const pairs = args[0] === 'diff-tree' ? String(options?.input).split('\n').length - 1 : 0;
        if (pairs > 0) lists.push(pairs);
        return repository.git.text(args, { ...options, ...(pairs > 2 ? { mostOutput: 100 } : {}) });
      },
    };
    expect(await findMergeFault(git, chain)).toBeUndefined();
    expect(lists).toEqual([10, 6, 4, 2, 2, 2, 4, 2, 2]);
    const work = chain.steps.map(({ base, commit }) => ({ from: base, to: commit }));
    expect((await readChanges(git, work)).map((changes) => [...changes.keys()])).toEqual(
      attempts.map(([id]) => [`${id}.txt`]),
    );
    const wrong = forge(temp, chain.steps[3]?.before ?? '', chain.tip);
    const steps = chain.steps.map((step) => (step.task === 'E' ? { ...step, after: wrong } : step));
    expect(await findMergeFault(git, { ...chain, tip: wrong, steps })).toMatch(
      /the merge of E and the work of E differ/,
    );
  });
});

describe('a chain of merges', () => {
  it('is sound when each step changes what its task changed: other files, the same file, the same change, a removal', async () => {
    const { repository, attempt, merge, temp } = await setScene();
    const first = attempt({ 'src/b.txt': 'one\n2\n3\n4\n5\n6\n7\n', 'new.txt': 'x\n' });
    const second = attempt({ 'src/b.txt': '1\n2\n3\n4\n5\n6\nseven\n', 'new.txt': 'x\n' });
    attempt({ 'src/new/d.txt': 'd\n' });
    temp.git('rm', '--quiet', 'docs/c.txt');
    temp.git('commit', '--quiet', '--amend', '--no-edit');
    const third = temp.git('rev-parse', 'HEAD');
    expect(await repository.findMergeFault(await merge({ A: first, B: second, C: third }))).toBeUndefined();
  });

  it('is not sound when the tip does not descend from the tip of the branch', async () => {
    const { repository, attempt, merge, base } = await setScene();
    const chain = await merge({ B: attempt({ 'b2.txt': 'b\n' }) });
    const moved = attempt({ 'a2.txt': 'a\n' });
    const steps = chain.steps.map((step) => ({ ...step, before: moved }));
    expect(await repository.findMergeFault({ ...chain, from: moved })).toMatch(/^the merge of B is made on /);
    expect(await repository.findMergeFault({ ...chain, from: moved, steps })).toMatch(/does not descend from/);
    expect(await repository.findMergeFault({ from: base, tip: moved, steps: [] })).toMatch(/^no merge leads to/);
  });

  it("is not sound when a task's commit is missing, although its files are there", async () => {
    const { repository, attempt, merge, temp, base } = await setScene();
    const commit = attempt({ 'b2.txt': 'b\n' });
    const { tip, steps } = await merge({ B: commit });
    const after = forge(temp, tip, base);
    const chain = { from: base, tip: after, steps: steps.map((step) => ({ ...step, after })) };
    expect(await repository.findMergeFault(chain)).toMatch(/^the commit of B is not in /);
  });

  it.each<[string, Record<string, string>, RegExp]>([
    ['adds a file', { 'b2.txt': 'b\n', 'more.txt': 'x\n' }, /^the merge of B and the work of B differ in more\.txt$/],
    ['writes other content', { 'b2.txt': 'evil\n' }, /^the merge of B and the work of B differ in b2\.txt$/],
    ['lacks a change', { 'b3.txt': 'b\n' }, /^the merge of B and the work of B differ in b2\.txt$/],
  ])('is not sound when a step %s', async (_, files, fault) => {
    const { repository, attempt, temp, base } = await setScene();
    const commit = attempt({ 'b2.txt': 'b\n', 'b3.txt': 'b\n' });
    const after = forge(temp, attempt({ 'b3.txt': 'b\n', ...files }), base, commit);
    const step: MergeStep = { task: 'B', base, commit, before: base, after };
    expect(await repository.findMergeFault({ from: base, tip: after, steps: [step] })).toMatch(fault);
  });

  it('is not sound when git has taken a missing tree for an empty one', async () => {
    const { repository, attempt, merge, temp, base } = await setScene();
    const work = attempt({ 'b2.txt': 'b\n' });
    const { tip, steps } = await merge({ A: attempt({ 'src/deep/new.txt': 'new\n' }) });
    const tree = temp.git('rev-parse', `${tip}:src/deep`);
    rmSync(path.join(temp.folder, '.git', 'objects', tree.slice(0, 2), tree.slice(2)));
    const merged = await repository.merge({ tip, commit: work, message: 'Merge B' });
    if (merged.kind !== 'merged') throw new Error('this git notices it by itself');
    const last: MergeStep = { task: 'B', base, commit: work, before: tip, after: merged.commit };
    const chain = { from: base, tip: merged.commit, steps: [...steps, last] };
    expect(await repository.findMergeFault(chain)).toMatch(/^git cannot read all of it: .*[0-9a-f]{40}/);
  });
});
