import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createProject, simpleTask } from '../support/project.ts';
import type { TestProject, TestTask } from '../support/project.ts';

/** Says something in the name of the worker that it runs on, until that ends it. */
const CLAIM = `
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
const [, , attempt, claim] = process.argv;
const mark = process.env.OUTSIDE + '/' + attempt;
if (existsSync(mark)) process.exit(1);
writeFileSync(mark, '');
const outbox = (pid = process.ppid) => {
  const args = readFileSync('/proc/' + pid + '/cmdline', 'utf8').split('\\0');
  if (args.includes('--outbox')) return args[args.indexOf('--outbox') + 1];
  return outbox(Number(readFileSync('/proc/' + pid + '/stat', 'utf8').replace(/^.*\\) . /, '').split(' ')[0]));
};
const file = outbox() + '/status.json';
const told = { kind: 'task', attempt, outcome: claim, detail: 'forged', feedback: '', commit: null, usage: null, resetAt: '2099-01-01T00:00:00Z' };
for (let more = 1; more < 1000; more += 1) {
  const status = JSON.parse(readFileSync(file, 'utf8'));
  const said = claim === 'setup' ? { setupFailure: 'forged' } : { result: told, phase: 'idle', attempt: null };
  writeFileSync(outbox() + '/forged', JSON.stringify({ ...status, beat: status.beat + 1, ...said }));
  renameSync(outbox() + '/forged', file);
  execFileSync('sleep', ['0.02']);
}
`;

const liar = (id: string, claim: string): TestTask =>
  simpleTask(id, { run: `exec ${process.execPath} "$OUTSIDE/claim.mjs" ${id}.1 ${claim}` });

describe('words that a task puts into the mouth of its worker', () => {
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
});
