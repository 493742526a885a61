import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createProject } from '../support/project.ts';
import type { TestProject } from '../support/project.ts';
import { promptsOf, scriptedAgent } from '../support/scripted-agent.ts';

let project: TestProject;

beforeEach(async () => {
  project = await createProject();
});
afterEach(() => project.remove());

const INTEGRATION = 'mahabharatha/login/integration';

const changedFiles = (): string[] =>
  project
    .git('diff', '--name-only', '-z', 'main', INTEGRATION)
    .split('\0')
    .filter((file) => file !== '');

const noted = (name: string): Promise<string> => readFile(path.join(project.outside, name), 'utf8');

async function outcomes(task: string): Promise<(string | null)[]> {
  return (await project.state()).tasks[task]?.attempts.map(({ outcome }) => outcome) ?? [];
}

describe('a task that fails', () => {
  it('is tried again with the output of its verification in the prompt', async () => {
    const verify = 'echo "expected GREETING=hello, found: $(cat a.txt)"; echo "on stderr" >&2; grep -q hello a.txt';
    await project.graph('login', [
      {
        id: 'T-1',
        create: ['a.txt'],
        verify,
        description: 'Write a greeting.',
        acceptance_criteria: ['It is polite.'],
      },
    ]);
    await project.config(await scriptedAgent(project, { 'T-1': ['echo bye > a.txt', 'echo hello > a.txt'] }));

    const run = await project.cli('kurukshetra');

    expect(run.exit).toBe(0);
    const [first, second] = await promptsOf(project, 'T-1');
    for (const words of ['# Task T-1', 'Write a greeting.', 'It is polite.', 'a.txt', verify]) {
      expect(first).toContain(words);
      expect(second).toContain(words);
    }
    expect(first).not.toContain('went wrong');
    expect(second).toMatch(/What went wrong in the last attempt[^]*exit status 1[^]*found: bye\non stderr/);
    expect(await outcomes('T-1')).toEqual(['verification-failed', 'accepted']);
    expect(project.git('show', `${INTEGRATION}:a.txt`)).toBe('hello\n');
    expect(run.stdout).toContain('T-1 attempt 1 failed (verification-failed)');
  });

  it('is tried again when .gitignore keeps a declared file out of its commit', async () => {
    await project.write('.gitignore', 'dist/\n');
    project.commit('ignore dist');
    await project.graph('login', [{ id: 'T-1', create: ['a.txt', 'dist/b.txt', 'c.txt'], verify: 'test -s a.txt' }]);
    const first = 'mkdir -p dist && echo a > a.txt && echo b > dist/b.txt';
    await project.config(await scriptedAgent(project, { 'T-1': [first, 'echo a > a.txt'] }));

    const run = await project.cli('kurukshetra');

    expect(run.exit).toBe(0);
    expect(await outcomes('T-1')).toEqual(['no-change', 'accepted']);
    const [, second] = await promptsOf(project, 'T-1');
    expect(second).toContain('dist/b.txt was written but is not in the commit: .gitignore covers it');
  });

  it('is tried again when it has made a git repository of its own, whose files would be on no branch', async () => {
    const app = 'mkdir -p app && echo hello > app/a.txt';
    const own = `${app} && cd app && git init --quiet && git add . && git -c user.name=x -c user.email=x@x commit -qm x`;
    await project.graph('login', [{ id: 'T-1', create: ['app', 'app/**'], verify: 'test -s app/a.txt' }]);
    await project.config(await scriptedAgent(project, { 'T-1': [own, app] }));

    const run = await project.cli('kurukshetra');

    expect(run.exit, run.stdout).toBe(0);
    expect(run.stdout).toContain('made a git repository of its own in app: the files in there would be lost');
    const [, second] = await promptsOf(project, 'T-1');
    expect(second).toContain('Remove the .git folder in there');
    expect(await outcomes('T-1')).toEqual(['no-change', 'accepted']);
    expect(project.git('show', `${INTEGRATION}:app/a.txt`)).toBe('hello\n');
  });

  it('fails at the limit: exit 1, the reason in status, dependents blocked, all others done; retry and resume complete it', async () => {
    await project.config('retry: { attempts: 2 }\n');
    await project.graph('login', [
      {
        id: 'BAD',
        level: 1,
        create: ['bad.txt'],
        run: 'echo bad > bad.txt',
        verify: 'echo "not $((40+2)) yet"; test -e "$OUTSIDE/mended"',
      },
      {
        id: 'GOOD',
        level: 1,
        create: ['good.txt'],
        run: 'echo "$RANDOM" >> "$OUTSIDE/good-runs"; echo good > good.txt',
      },
      { id: 'NEEDS-BAD', level: 2, dependencies: ['BAD'], create: ['c.txt'], run: 'cat bad.txt > c.txt' },
      { id: 'NEEDS-GOOD', level: 2, dependencies: ['GOOD'], create: ['d.txt'], run: 'cat good.txt > d.txt' },
      {
        id: 'NEEDS-BOTH',
        level: 3,
        dependencies: ['NEEDS-BAD', 'NEEDS-GOOD'],
        create: ['e.txt'],
        run: 'cat c.txt d.txt > e.txt',
      },
    ]);

    const run = await project.cli('kurukshetra', '--workers', '2');

    expect(run.exit).toBe(1);
    expect(run.stdout).toContain('2 of 5 tasks are done, 1 failed, 2 blocked');
    expect(run.stdout).toMatch(/BAD is failed: failed 2 of 2 times; last: the verification .* failed: exit status 1/);
    expect(run.stdout).toMatch(/NEEDS-BOTH is blocked: needs NEEDS-BAD, which is blocked/);
    expect(run.stdout).toContain('mahabharatha retry BAD --feature login');
    expect(run.stdout).not.toMatch(/run complete|All tasks/);
    const { tasks, status, levels } = await project.state();
    expect(status).toBe('failed');
    expect(Object.values(levels).map((level) => level.status)).toEqual(['failed', 'failed', 'failed']);
    expect(Object.fromEntries(Object.entries(tasks).map(([id, task]) => [id, task.status]))).toEqual({
      BAD: 'failed',
      GOOD: 'complete',
      'NEEDS-BAD': 'blocked',
      'NEEDS-GOOD': 'complete',
      'NEEDS-BOTH': 'blocked',
    });
    expect(changedFiles()).toEqual(['d.txt', 'good.txt']);
    const shown = await project.cli('status');
    expect(shown.exit).toBe(0);
    expect(shown.stdout).toMatch(/✗ BAD +failed .*failed 2 of 2 times/);
    expect(shown.stdout).toMatch(/⊘ NEEDS-BAD +blocked .*needs BAD, which is failed/);
    expect((await project.cli('logs', '--task', 'BAD')).stdout).toContain('not 42 yet');
    // The work of failed attempts is kept until clean-up.
    expect(project.git('show', 'refs/mahabharatha/login/BAD/2:bad.txt')).toBe('bad\n');

    // Resuming alone gives no new tries: retry does, and takes what was blocked along.
    expect((await project.cli('kurukshetra', '--resume')).exit).toBe(1);
    expect((await project.cli('retry', 'GOOD')).exit).toBe(2);
    await writeFile(path.join(project.outside, 'mended'), '');
    const retry = await project.cli('retry', '--json');
    expect(JSON.parse(retry.stdout)).toMatchObject({ type: 'retry', feature: 'login', tasks: ['BAD'] });
    const row = (await project.cli('list')).stdout;
    expect(row).toMatch(/^login {2}stopped .* mahabharatha kurukshetra --feature login --resume\n.*new tries/);
    const resumed = await project.cli('kurukshetra', '--resume');
    expect(resumed.stdout).toContain('5 of 5 tasks are merged');
    expect(resumed.exit).toBe(0);
    expect(changedFiles()).toEqual(['bad.txt', 'c.txt', 'd.txt', 'e.txt', 'good.txt']);
    expect((await noted('good-runs')).trim().split('\n')).toHaveLength(1);
    expect((await project.cli('retry')).stdout).toBe('No task has failed.\n');
  });

  it('is a task that changes nothing, unless it declares no files', async () => {
    await project.config(
      `retry: { attempts: 2 }\n${await scriptedAgent(project, { IDLE: ['echo "I did it all!"', 'true'], CHECK: ['true'] })}`,
    );
    await project.graph('login', [
      { id: 'IDLE', create: ['a.txt'], verify: 'true' },
      { id: 'CHECK', verify: 'test -e README.md' },
    ]);

    expect((await project.cli('kurukshetra')).exit).toBe(1);

    expect(await outcomes('IDLE')).toEqual(['no-change', 'no-change']);
    expect((await promptsOf(project, 'IDLE'))[1]).toContain('nothing was changed; expected changes to a.txt');
    expect((await project.state()).tasks['CHECK']?.status).toBe('complete');
    expect(changedFiles()).toEqual([]);
  });

  it('is one whose agent ends with another exit status than 0, also when it has done the work', async () => {
    await project.config('retry: { attempts: 1 }\n');
    await project.graph('login', [
      { id: 'T-1', create: ['a.txt'], run: 'echo a > a.txt; echo "out of cheese"; exit 3' },
    ]);

    expect((await project.cli('kurukshetra')).exit).toBe(1);

    expect((await project.state()).tasks['T-1']?.cause).toContain('the run command: exit status 3');
    expect(changedFiles()).toEqual([]);
  });
});

describe('ownership', () => {
  const trespass = {
    NEW: 'echo 1 > mine.txt; echo 2 > other.txt',
    CHANGED: 'echo 1 > mine.txt; echo more >> README.md',
    GONE: 'echo 1 > mine.txt; rm src/old.txt',
    MOVED: 'git mv src/old.txt mine.txt',
    MODE: 'echo 1 > mine.txt; chmod +x README.md',
  };

  it('fails a task that writes, changes, deletes, moves or chmods a file that is not its own, with feedback', async () => {
    await project.write('src/old.txt', 'old\n');
    project.commit('more');
    const ids = Object.keys(trespass);
    // Each has a file of its own; the second attempt keeps to it.
    const scripts = ids.map((id) => [
      id,
      [trespass[id as keyof typeof trespass].replaceAll('mine', id), `echo 1 > ${id}.txt`],
    ]);
    await project.config(await scriptedAgent(project, Object.fromEntries(scripts)));
    await project.graph(
      'login',
      ids.map((id) => ({ id, create: [`${id}.txt`], verify: 'true' })),
    );

    expect((await project.cli('kurukshetra', '--workers', '2')).exit).toBe(0);

    for (const id of ids) expect([id, await outcomes(id)]).toEqual([id, ['not-owned', 'accepted']]);
    expect((await promptsOf(project, 'NEW'))[1]).toMatch(
      /changed 1 file that it does not own: other\.txt[^]*put everything else back/,
    );
    expect((await promptsOf(project, 'MOVED'))[1]).toContain('src/old.txt');
    expect(changedFiles()).toEqual(ids.map((id) => `${id}.txt`).toSorted());
  });

  it.each([
    { ownership: 'warn', warned: true },
    { ownership: 'off', warned: false },
  ])('only $ownership: the work is taken', async ({ ownership, warned }) => {
    await project.config(`ownership: ${ownership}\n`);
    await project.graph('login', [{ id: 'NEW', create: ['mine.txt'], run: trespass.NEW }]);

    const run = await project.cli('kurukshetra');

    expect(run.exit).toBe(0);
    expect(changedFiles()).toEqual(['mine.txt', 'other.txt']);
    const warning = 'NEW changed 1 file that it does not own: other.txt';
    expect((await project.state()).warnings).toEqual(warned ? [warning] : []);
    expect(run.stdout.includes(`warning  ${warning}`)).toBe(warned);
  });

  it('works with globs and folders as well', async () => {
    await project.graph('login', [
      {
        id: 'GLOB',
        create: ['src/**/*.ts', 'docs/'],
        run: 'mkdir -p src/x/y docs/z; echo 1 | tee src/x/y/a.ts src/b.ts docs/z/c.md >/dev/null',
      },
    ]);

    expect((await project.cli('kurukshetra')).exit).toBe(0);

    expect(changedFiles()).toEqual(['docs/z/c.md', 'src/b.ts', 'src/x/y/a.ts']);
  });
});

describe('files that an attempt leaves', () => {
  const LOOK = 'git status --porcelain --ignored --untracked-files=all; cat README.md';
  const CLEAN = '# A project\n';
  const MESS = [
    'echo spoilt >> README.md; git rm -q --cached README.md',
    'echo 1 > untracked.txt; mkdir -p deep/down; echo 1 > deep/down/file; chmod 500 deep/down',
    'mkdir -p build; echo 1 > build/out.o; echo 1 > .env.log',
    'git init -q inner; echo 1 > inner/file; git -C inner add -A; git -C inner -c user.name=x -c user.email=x commit -qm x',
    'echo 1 > $(git rev-parse --git-path index.lock); ln -s /etc link',
  ].join('\n');

  beforeEach(async () => {
    await project.write('.gitignore', 'build/\n*.log\n');
    project.commit('ignore build output');
  });

  it('do not reach the next attempt, nor another task in the same worktree', async () => {
    const scripts = {
      FIRST: [`${MESS}\nexit 1`, `${LOOK} > "$OUTSIDE/seen-by-second-attempt"\necho 1 > first.txt`],
      OTHER: [`${LOOK} > "$OUTSIDE/seen-by-other"\necho 1 > other.txt`],
    };
    await project.config(await scriptedAgent(project, scripts));
    // Between the first attempt and its repetition comes the other task: it is the longer one, and waits for its turn.
    await project.graph('login', [
      { id: 'FIRST', create: ['first.txt'], estimate_minutes: 20 },
      { id: 'OTHER', create: ['other.txt'], estimate_minutes: 10 },
    ]);

    expect((await project.cli('kurukshetra', '--workers', '1')).exit).toBe(0);

    expect(await noted('seen-by-second-attempt')).toBe(CLEAN);
    expect(await noted('seen-by-other')).toBe(CLEAN);
    expect(changedFiles()).toEqual(['first.txt', 'other.txt']);
  });

  it('do not reach another task right after the failure', async () => {
    // It is not the failed task that goes next, since that has to wait: its agent was told to slow down.
    const limited = `echo '{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"API Error: Request rejected (429)"}'`;
    await writeFile(
      path.join(project.outside, 'claude'),
      `#!/bin/bash\nif [ "$1" = --version ]; then echo 2.1.0; exit; fi\ncat > /dev/null\nif [ ! -e "$OUTSIDE/once" ]; then touch "$OUTSIDE/once"; ${MESS}\n${limited}; exit 1; fi\n` +
        `{ ${LOOK}; } > "$OUTSIDE/seen-by-$MAHABHARATHA_TASK"; echo 1 > $MAHABHARATHA_TASK.txt\n` +
        `echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"done"}'\n`,
      { mode: 0o755 },
    );
    await project.config(`claude: { command: "${project.outside}/claude" }\nretry: { backoff: 300ms, attempts: 1 }\n`);
    project.env['IS_SANDBOX'] = '1';
    await project.graph('login', [
      { id: 'FIRST', create: ['FIRST.txt'], estimate_minutes: 20 },
      { id: 'OTHER', create: ['OTHER.txt'], estimate_minutes: 10 },
    ]);

    const run = await project.cli('kurukshetra', '--workers', '1');

    expect(run.stdout).toContain('2 of 2 tasks are merged');
    expect(await outcomes('FIRST')).toEqual(['rate-limited', 'accepted']);
    expect(await noted('seen-by-OTHER')).toBe(CLEAN);
    expect(await noted('seen-by-FIRST')).toBe(CLEAN);
  });

  it('are not committed when the verification wrote them', async () => {
    await project.graph('login', [
      {
        id: 'T-1',
        create: ['a.txt'],
        run: 'echo 1 > a.txt',
        verify: 'mkdir coverage; echo 1 > coverage/report; echo spoilt >> README.md; echo 2 > a.txt',
      },
      { id: 'T-2', level: 2, create: ['b.txt'], run: `${LOOK} > "$OUTSIDE/seen"; echo 1 > b.txt` },
    ]);

    expect((await project.cli('kurukshetra', '--workers', '1')).exit).toBe(0);

    expect(changedFiles()).toEqual(['a.txt', 'b.txt']);
    expect(project.git('show', `${INTEGRATION}:a.txt`)).toBe('1\n');
    expect(await noted('seen')).toBe(CLEAN);
  });
});
