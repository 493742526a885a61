import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createProject, simpleTask } from '../support/project.ts';
import type { TestProject, TestTask } from '../support/project.ts';

/** Writes forged statuses in the name of its worker, until that ends it. */
const CLAIM = `
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
const [, , attempt, claim, commit = null] = process.argv;
const mark = process.env.OUTSIDE + '/' + attempt;
if (existsSync(mark)) process.exit(1);
writeFileSync(mark, '');
const outbox = (pid = process.ppid) => {
  const args = readFileSync('/proc/' + pid + '/cmdline', 'utf8').split('\\0');
  if (args.includes('--outbox')) return args[args.indexOf('--outbox') + 1];
  return outbox(Number(readFileSync('/proc/' + pid + '/stat', 'utf8').replace(/^.*\\) . /, '').split(' ')[0]));
};
const file = outbox() + '/status.json';
const told = { kind: 'task', attempt, outcome: claim, detail: 'forged', feedback: '', commit, usage: null, resetAt: '2099-01-01T00:00:00Z' };
for (let more = 1; more < 1000; more += 1) {
  const status = JSON.parse(readFileSync(file, 'utf8'));
  const said = claim === 'setup' ? { setupFailure: 'forged' } : { result: told, phase: 'idle', attempt: null };
  writeFileSync(outbox() + '/forged', JSON.stringify({ ...status, beat: status.beat + 1, ...said }));
  renameSync(outbox() + '/forged', file);
  execFileSync('sleep', ['0.02']);
}
`;

/** A commit on its base with another author, time, signature and encoding; reported as verified. */
const FORGED_COMMIT = `
echo mine > A.txt
git add A.txt
base=$(git rev-parse HEAD)
forged=$({
  echo "tree $(git write-tree)"
  echo "parent $base"
  echo "author Linus Torvalds <linus@example.org> 1112911993 -0700"
  echo "committer Linus Torvalds <linus@example.org> 4102444800 +1400"
  echo "encoding ISO-8859-1"
  echo "gpgsig -----BEGIN PGP SIGNATURE-----"
  echo " forged"
  echo " -----END PGP SIGNATURE-----"
  echo
  echo "Merge by the maintainers"
  echo
  echo "Mahabharatha-Task: B"
} | git hash-object -t commit -w --stdin)
exec ${process.execPath} "$OUTSIDE/claim.mjs" A.1 verified $forged`;

const liar = (id: string, claim: string): TestTask =>
  simpleTask(id, { run: `exec ${process.execPath} "$OUTSIDE/claim.mjs" ${id}.1 ${claim}` });

describe('results that a task forges in the name of its worker', () => {
  let project: TestProject;
  beforeEach(async () => {
    project = await createProject();
    await writeFile(path.join(project.outside, 'claim.mjs'), CLAIM);
  });
  afterEach(() => project.remove());

  it.each(['usage-limit', 'rate-limited', 'credentials', 'setup'])(
    'do not pause or end a run that no such thing can befall: %s',
    async (claim) => {
      await project.config('retry: { attempts: 1 }\nworkers: { count: 2 }\n');
      await project.graph('login', [liar('LIAR', claim), simpleTask('B')]);
      const run = await project.cli('kurukshetra');
      const { tasks, status } = await project.state();
      expect(run.exit, run.stdout + run.stderr).toBe(1);
      expect(status).toBe('failed');
      expect(tasks['LIAR']).toMatchObject({ status: 'failed', failures: 1 });
      expect(tasks['LIAR']?.attempts[0]?.outcome).toBe('worker-error');
      expect(tasks['B']?.status).toBe('complete');
      expect(await project.processes()).toEqual([]);
    },
  );

  it('do not change author, dates, encoding, signature or message of the commits: they are ours', async () => {
    await project.graph('login', [simpleTask('A', { run: FORGED_COMMIT })]);
    const begin = Math.floor(Date.now() / 1000);
    const run = await project.cli('kurukshetra');
    expect(run.exit, run.stdout + run.stderr).toBe(0);
    const { runId, tasks } = await project.state();
    const commit = tasks['A']?.commit ?? '';
    const [headers = '', ...message] = project.git('cat-file', 'commit', commit).split('\n\n');
    const us = /^(author|committer) Mahabharatha <mahabharatha@localhost> (\d+) \+0000$/;
    const [tree, parent, author = '', committer = '', ...more] = headers.split('\n');
    expect(more).toEqual([]);
    for (const line of [author, committer]) {
      expect(line).toMatch(us);
      expect(Math.abs(Number(us.exec(line)?.[2]) - begin)).toBeLessThan(600);
    }
    expect(`${tree}\n${parent}`).toBe(project.git('log', '-1', '--format=tree %T%nparent %P', commit).trim());
    const trailers = `Mahabharatha-Feature: login\nMahabharatha-Task: A\nMahabharatha-Attempt: A.1\nMahabharatha-Run: ${runId}\n`;
    expect(message).toEqual(['A: Task A', trailers]);
    expect(project.git('show', 'mahabharatha/login/integration:A.txt')).toBe('mine\n');
    expect(project.git('rev-parse', 'refs/mahabharatha/login/A/1').trim()).toBe(commit);
    expect(project.git('log', '--all', '--format=%an %cn', '--not', 'main')).not.toContain('Linus');
  });
});
