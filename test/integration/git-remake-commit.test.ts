import { expect, it } from 'vitest';
import { openRepository } from '../../src/git/index.ts';
import { tempRepository } from '../support/temp-repository.ts';

it("a worker's commit is made again by us with the same files, and its branch is moved to the new one", async () => {
  const temp = tempRepository();
  const base = temp.commit({ 'a.txt': '1\n' });
  temp.git('checkout', '--quiet', '--detach');
  const commit = temp.commit({ 'a.txt': '2\n', 'ü.txt': 'ü\n' });
  temp.git('checkout', '--quiet', 'main');
  temp.git('branch', 'work', commit);
  temp.git('branch', 'shown', commit);
  temp.git('worktree', 'add', '--quiet', '../shown', 'shown');
  // The user's settings for commits do not count for ours.
  const env = { ...temp.env, GIT_AUTHOR_DATE: '@1 +0000', GIT_COMMITTER_DATE: '@1 +0000' };
  temp.git('config', 'i18n.commitEncoding', 'ISO-8859-1');
  temp.git('config', 'commit.gpgSign', 'true');
  const repository = await openRepository(temp.folder, env);
  const wish = { commit, base, message: 'A: ü\n\nTrailer: 1\n', at: 1_800_000_000_999, ref: 'refs/mahabharatha/x/A/1' };

  const made = (await repository.remake({ ...wish, branch: 'work' })) ?? '';

  const us = 'Mahabharatha <mahabharatha@localhost> 1800000000 +0000';
  const tree = temp.git('rev-parse', `${commit}^{tree}`);
  expect(temp.git('cat-file', 'commit', made)).toBe(
    `tree ${tree}\nparent ${base}\nauthor ${us}\ncommitter ${us}\n\nA: ü\n\nTrailer: 1`,
  );
  expect(temp.git('rev-parse', 'work')).toBe(made);
  expect(temp.git('rev-parse', wish.ref)).toBe(made);
  await repository.remake({ ...wish, branch: 'shown' });
  expect(temp.git('rev-parse', 'shown')).toBe(commit);
  expect(await repository.remake({ ...wish, branch: null })).toBe(made);
});
