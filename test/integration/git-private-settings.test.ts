import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openPrivate } from '../support/private-checkout.ts';
import { tempRepository } from '../support/temp-repository.ts';
import type { TempRepository } from '../support/temp-repository.ts';

const home = ({ env }: TempRepository): string => env['HOME'] ?? '';
const global = (temp: TempRepository, key: string, value: string): string => temp.git('config', '--global', key, value);

describe("the user's settings in a private git directory", () => {
  it('make the user the author of what an agent commits', async () => {
    const temp = tempRepository();
    global(temp, 'user.name', 'O\'Neil "Ü" \\ # ; \t x');
    temp.git('config', 'committer.email', 'committer@example.com');
    const worker = await openPrivate(temp);
    worker.git('commit', '--quiet', '--allow-empty', '--message=by hand');
    expect(worker.git('log', '-1', '--format=%an <%ae> %ce')).toBe(
      'O\'Neil "Ü" \\ # ; \t x <user@example.com> committer@example.com\n',
    );
  });

  it('keep line ends as they are for the user, also by attributes of the user alone', async () => {
    const temp = tempRepository();
    const base = temp.commit({
      'a.txt': 'a\nb\n',
      'b.dat': 'a\nb\n',
      'c.bat': 'a\nb\n',
      '.gitattributes': '*.dat text eol=lf\n',
    });
    global(temp, 'core.autocrlf', 'true');
    temp.write('../home/.config/git/attributes', '*.dat eol=crlf\n');
    temp.write('.git/info/attributes', '*.bat -text\n');
    const worker = await openPrivate(temp);
    const files = ['a.txt', 'b.dat', 'c.bat'].map((name) => readFileSync(path.join(worker.folder, name), 'utf8'));
    // The tree's attributes overrule the user's own file, and the repository's overrule both.
    expect(files).toEqual(['a\r\nb\r\n', 'a\nb\n', 'a\nb\n']);
    expect(worker.git('status', '--porcelain')).toBe('');
    worker.write('new.txt', 'new\r\n');
    const commit = await worker.commit();
    expect(await worker.fetchBundle(commit)).toEqual(['new.txt']);
    expect(temp.git('cat-file', 'blob', `${commit}:new.txt`)).toBe('new');
    expect(worker.base).toBe(base);
  });

  it('ignore what the user ignores everywhere, and what this repository ignores', async () => {
    const temp = tempRepository();
    temp.write('../home/.config/git/ignore', '.idea/\n*.swp\n!kept.log');
    temp.write('.git/info/exclude', '.mahabharatha\n/local\n*.log\n!kept.swp\n');
    const worker = await openPrivate(temp);
    for (const name of ['.idea/x', 'a.swp', 'kept.swp', 'local', 'kept.log', 'work.txt']) worker.write(name, 'x\n');
    expect(await worker.fetchBundle(await worker.commit())).toEqual(['kept.swp', 'work.txt']);
    expect(existsSync(path.join(worker.folder, 'a.swp'))).toBe(true);
  });

  it.each([
    ['a path from the home folder', (temp: TempRepository) => global(temp, 'core.excludesFile', '~/my ignores')],
    ['a whole path', (temp: TempRepository) => temp.git('config', 'core.excludesFile', `${home(temp)}/my ignores`)],
    ['a path from the repository', (temp: TempRepository) => global(temp, 'core.excludesFile', '../home/my ignores')],
  ])("find the user's ignore file by %s, and no other one", async (_, name) => {
    const temp = tempRepository();
    temp.write('../home/my ignores', '*.mine\n');
    temp.write('../home/.config/git/ignore', '*.swp\n');
    name(temp);
    const worker = await openPrivate(temp);
    for (const file of ['a.mine', 'a.swp']) worker.write(file, 'x\n');
    expect(worker.git('status', '--porcelain')).toBe('?? a.swp\n');
  });

  it("find the user's ignore file by XDG_CONFIG_HOME, and do without one that cannot be read", async () => {
    const temp = tempRepository();
    temp.write('../xdg/git/ignore', '*.mine\n');
    const own = { ...temp, env: { ...temp.env, XDG_CONFIG_HOME: path.resolve(temp.folder, '../xdg') } };
    const worker = await openPrivate(own);
    worker.write('a.mine', 'x\n');
    expect(worker.git('status', '--porcelain')).toBe('');
    global(temp, 'core.excludesFile', '/dev/null/no such file');
    expect((await openPrivate(temp)).git('status', '--porcelain')).toBe('');
  });

  it('say whether the rights of files count', async () => {
    const temp = tempRepository();
    // A setting without a value is true; the last one counts.
    execFileSync('bash', ['-c', 'printf "[core]\\n\\tignorecase\\n\\tfilemode = false\\n" >> .git/config'], {
      cwd: temp.folder,
    });
    const worker = await openPrivate(temp);
    chmodSync(path.join(worker.folder, 'README.md'), 0o755);
    expect(worker.git('status', '--porcelain')).toBe('');
    expect(worker.git('config', '--type=bool', 'core.ignorecase')).toBe('true\n');
  });

  it('that name programs, addresses or keys are left out', async () => {
    const temp = tempRepository();
    const marker = path.join(home(temp), 'was run');
    const runs = `touch '${marker}'; cat`;
    temp.commit({ '.gitattributes': '*.txt filter=own diff=own merge=own\n', 'a.txt': 'a\n' });
    for (const key of [
      'filter.own.smudge',
      'filter.own.clean',
      'filter.own.process',
      'core.fsmonitor',
      'core.editor',
      'diff.own.textconv',
      'alias.x',
      'credential.helper',
      'core.hooksPath',
      'core.sshCommand',
      'gpg.program',
    ])
      temp.git('config', key, runs);
    temp.git('config', 'remote.origin.url', 'https://user:token@example.com/x.git');
    temp.git('config', 'http.extraHeader', 'Authorization: secret');
    const worker = await openPrivate(temp);
    worker.write('b.txt', 'b\n');
    await worker.commit();
    const config = readFileSync(path.join(worker.gitDir, 'config'), 'utf8');
    expect(config).not.toMatch(/touch|token|secret|remote|filter/);
    expect(existsSync(marker)).toBe(false);
  });
});

describe("an agent's own git commands", () => {
  it('work, and all that it commits becomes one commit', async () => {
    const temp = tempRepository();
    temp.commit({ 'a.txt': 'a\n' });
    const worker = await openPrivate(temp);
    const { git } = worker;
    git('checkout', '--quiet', '-b', 'idea');
    worker.write('one.txt', '1\n');
    expect(git('status', '--porcelain')).toBe('?? one.txt\n');
    git('add', 'one.txt');
    git('commit', '--quiet', '--message=one');
    worker.write('a.txt', 'changed\n');
    expect(git('diff', '--stat')).toContain('a.txt');
    git('stash');
    expect(git('status', '--porcelain')).toBe('');
    git('stash', 'pop', '--quiet');
    git('commit', '--quiet', '--all', '--message=two');
    git('rebase', '--quiet', '--force-rebase', 'main');
    git('tag', 'mine');
    expect(git('log', '--format=%s %an', 'main..')).toBe('two A User\none A User\n');
    git('gc', '--quiet', '--prune=now');
    const commit = await worker.commit();
    expect(await worker.fetchBundle(commit)).toEqual(['a.txt', 'one.txt']);
    expect(temp.git('branch', '--list', 'idea')).toBe('');
    expect(temp.git('tag')).toBe('');
  });
});
