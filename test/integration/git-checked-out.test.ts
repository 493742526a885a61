import { readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkedOutIn } from '../../src/git/checked-out.ts';
import { gitIn } from '../../src/git/git-command.ts';
import { tempRepository } from '../support/temp-repository.ts';

const OURS = 'refs/heads/ours';

/** A repository with the branch `ours`; `look` says where that is checked out, and with which git commands this was found. */
function openScene() {
  const temp = tempRepository();
  temp.git('branch', 'ours');
  const commonDir = path.join(temp.folder, '.git');
  const git = gitIn(temp.folder, temp.env);
  const look = async (): Promise<{ folder: string | undefined; asked: number }> => {
    let asked = 0;
    const counted: typeof git = {
      ...git,
      text: (...call) => {
        asked++;
        return git.text(...call);
      },
    };
    return { folder: await checkedOutIn(counted, commonDir, OURS), asked };
  };
  return { temp, head: path.join(commonDir, 'HEAD'), look };
}

describe('where a branch is checked out', () => {
  it('is answered without git while each working tree has another branch, or none', async () => {
    const { temp, look } = openScene();
    expect(await look()).toEqual({ folder: undefined, asked: 0 });
    temp.git('worktree', 'add', '--quiet', '--detach', `${temp.folder}-detached`);
    temp.git('worktree', 'add', '--quiet', '-b', 'ours-too', `${temp.folder}-other`);
    expect(await look()).toEqual({ folder: undefined, asked: 0 });
  });

  it('is found in the first working tree, and in another one', async () => {
    const { temp, look } = openScene();
    temp.git('switch', '--quiet', 'ours');
    expect(await look()).toEqual({ folder: temp.folder, asked: 1 });
    temp.git('switch', '--quiet', 'main');
    temp.git('worktree', 'add', '--quiet', `${temp.folder}-there`, 'ours');
    expect(await look()).toEqual({ folder: `${temp.folder}-there`, asked: 1 });
  });

  it.each<[string, (scene: ReturnType<typeof openScene>) => void]>([
    ['symbolic ref', ({ temp }) => void temp.git('symbolic-ref', 'refs/heads/review', OURS)],
    ['link, as old gits made them', ({ head }) => symlinkSync(OURS, path.join(head, '..', 'refs/heads/review'))],
  ])('is asked of git where the branch in HEAD leads to another one: %s', async (_, make) => {
    const scene = openScene();
    make(scene);
    expect(await scene.look()).toEqual({ folder: undefined, asked: 0 });
    scene.temp.git('switch', '--quiet', 'review');
    expect(readFileSync(scene.head, 'utf8')).toBe('ref: refs/heads/review\n');
    expect(await scene.look()).toEqual({ folder: scene.temp.folder, asked: 1 });
  });

  it('is answered without git where all branches are packed', async () => {
    const { temp, look } = openScene();
    temp.git('pack-refs', '--all');
    expect(await look()).toEqual({ folder: undefined, asked: 0 });
  });

  it('is asked of git where HEAD is a link, as old gits made it', async () => {
    const { head, temp, look } = openScene();
    renameSync(head, `${head}-before`);
    symlinkSync(OURS, head);
    expect(await look()).toEqual({ folder: temp.folder, asked: 1 });
  });

  it('is asked of git where HEAD is no branch of a file', async () => {
    const { head, look } = openScene();
    const before = readFileSync(head);
    writeFileSync(head, 'ref: refs/heads/.invalid\n');
    expect(await look()).toEqual({ folder: undefined, asked: 1 });
    writeFileSync(head, before);
    expect(await look()).toEqual({ folder: undefined, asked: 0 });
  });
});
