import path from 'node:path';
import { expect, it } from 'vitest';
import { checkoutNotes, openRepository } from '../../src/git/index.ts';
import { repositoryAt, tempRepository } from '../support/temp-repository.ts';
import type { TempRepository } from '../support/temp-repository.ts';

async function notesOn(temp: TempRepository): Promise<string[]> {
  return checkoutNotes(await openRepository(temp.folder, temp.env), temp.git('rev-parse', 'HEAD'));
}

it('a repository without filters and with all objects has no notes', async () => {
  const temp = tempRepository();
  temp.commit({ '.gitattributes': '*.txt text\n*.old filter=not-installed\n*.a filter\n', 'a.txt': '1', 'b.old': '2' });
  expect(await notesOn(temp)).toEqual([]);
});

it('files with a filter are counted by the name of the filter: LFS always, others when the user has the program', async () => {
  const temp = tempRepository();
  const files = { 'a.bin': 'a', 'deep/b.bin': 'b', 'c.secret': 'c', 'd\n.secret': 'd', 'e.txt': 'e' };
  temp.commit({ '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n*.secret filter=crypt\n', ...files });
  temp.git('config', 'filter.crypt.smudge', 'rev');
  temp.git('rm', '--quiet', '--cached', 'c.secret');
  temp.git('commit', '--quiet', '--message=one less');
  const after = 'and what they write there is committed as it is';
  expect(await notesOn(temp)).toEqual([
    `2 files go through the git filter "lfs", which containers do not have: tasks see pointers in place of the content, ${after}`,
    `1 file goes through the git filter "crypt", which containers do not have: tasks see what is stored, ${after}`,
  ]);
});

it('a partial clone has a note with the number of missing objects and the command that fetches them', async () => {
  const origin = tempRepository();
  origin.commit({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
  origin.git('config', 'uploadpack.allowFilter', 'true');
  const temp = repositoryAt(path.join(path.dirname(origin.folder), 'partial'), origin.env);
  const how = ['--quiet', '--filter=blob:none', '--no-checkout'];
  origin.git('clone', ...how, `file://${origin.folder}`, temp.folder);
  const short = temp.git('rev-parse', 'HEAD').slice(0, 12);
  expect(await notesOn(temp)).toEqual([
    `this is a partial clone, 3 objects of ${short} are not here, and containers cannot fetch: get them first with: git archive ${short} > /dev/null`,
  ]);
  temp.git('archive', '--output=/dev/null', short);
  expect(await notesOn(temp)).toEqual([
    'this is a partial clone: in containers tasks see only the history that is here',
  ]);
});
