import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createContainerProject } from '../support/container-project.ts';
import type { ContainerProject } from '../support/container-project.ts';
import type { TestTask } from '../support/project.ts';
import { promptsOf, scriptedAgent } from '../support/scripted-agent.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

const INTEGRATION = 'mahabharatha/login/integration';

/** The same script for many attempts. */
const often = (script: string): string[] => Array.from({ length: 10 }, () => script);

describe.skipIf(docker.why !== '')(`what workers do as subprocesses they do in containers${whySkipped}`, () => {
  let project: ContainerProject;
  beforeAll(buildWorkerImage);
  beforeEach(async () => {
    project = await createContainerProject({ env: { ANTHROPIC_API_KEY: 'sk-a-key-for-tests' } });
    await chmod(project.outside, 0o777);
    await project.allowMounts(`{ folder: "${project.outside}", writable: true }`);
    project.env['OUTSIDE'] = '/outside';
  });
  afterEach(async () => {
    expect(project.leftovers()).toEqual([]);
    await project.remove();
  });

  /** The folder that tests and tasks share; tasks know it as `$OUTSIDE`, wherever it is for them. */
  const configure = (...workers: string[]): ((...more: string[]) => Promise<void>) => {
    const mount = `{ source: "${project.outside}", target: /outside, read_only: false }`;
    const container = `{ network: none, env: [OUTSIDE], mounts: [${mount}] }`;
    const lines = ['mode: container', `container: ${container}`, ...workers].map((line) => `  ${line}`);
    const inside = (line: string): string => line.replaceAll(project.outside, '/outside');
    return (...more) => project.config(['workers:', ...lines, ...more.map(inside), ''].join('\n'));
  };
  const noted = (name: string): Promise<string> => readFile(path.join(project.outside, name), 'utf8');
  const made = (): string[] => project.git('diff', '--name-only', 'main', INTEGRATION).trim().split('\n');
  const outcomes = async (id: string): Promise<(string | null)[]> =>
    (await project.state()).tasks[id]?.attempts.map(({ outcome }) => outcome) ?? [];
  const build = async (workers: number, exit = 0): Promise<string> => {
    const run = await project.cli('kurukshetra', '--workers', String(workers));
    expect(run.exit, run.stdout + run.stderr).toBe(exit);
    return run.stdout;
  };

  it('the set-up runs once, and again after a merged lock file; copies that only root may read are there; neither is committed', async () => {
    await project.write('.gitignore', 'node_modules/\n.env\nsecrets/\n');
    await project.write('package-lock.json', '{ "version": 1 }\n');
    project.commit('a project that needs a set-up');
    await project.write('.env', 's3cret\n');
    await mkdir(path.join(project.folder, 'secrets'));
    await writeFile(path.join(project.folder, 'secrets', 'key'), 'key\n', { mode: 0o600 });
    const setup =
      'cat package-lock.json >> "$OUTSIDE/setups"; mkdir -p node_modules tools; cp package-lock.json node_modules/; echo x > tools/tool; echo changed >> README.md';
    const there = `cmp package-lock.json node_modules/package-lock.json && test -s tools/tool && git diff --exit-code && grep -q s3cret .env && test -s secrets/key && test "$(stat -c %a secrets/key)" = 600`;
    await configure(
      `setup: '${setup}'`,
      'copy: [".env", "secrets/**"]',
    )(`gates: [{ name: there, command: '${there}' }]`);
    const task = (id: string, level: number, more: Partial<TestTask>): TestTask => ({
      id,
      level,
      verify: there,
      ...more,
    });
    await project.graph('login', [
      task('L1', 1, { create: ['a.txt'], run: `${there} && echo spoilt > .env && echo a > a.txt`, verify: 'true' }),
      task('L2', 2, {
        modify: ['package-lock.json'],
        run: `${there} && echo '{ "version": 2 }' > package-lock.json`,
        verify: 'true',
      }),
      task('L3', 3, { create: ['b.txt'], run: `${there} && echo b > b.txt` }),
    ]);
    await build(1);
    const setups = (await noted('setups')).trim().split('\n');
    // Each gate begins on a fresh tree.
    expect(setups[0]).toBe('{ "version": 1 }');
    expect(setups.at(-1)).toBe('{ "version": 2 }');
    expect(made()).toEqual(['a.txt', 'b.txt', 'package-lock.json']);
  });

  it('a task that fails verification or changes a file of another task gets that as feedback, and succeeds', async () => {
    await configure()(
      await scriptedAgent(project, {
        A: ['echo bye > a.txt', 'echo hello > a.txt'],
        B: ['echo 1 > b.txt; git mv README.md c.txt', 'echo 1 > b.txt'],
        C: ['echo "I did it all!"', 'git status --porcelain --ignored > "$OUTSIDE/seen"; echo 1 > d.txt'],
      }),
    );
    const verify = 'echo "found: $(cat a.txt)"; echo "on stderr" >&2; grep -q hello a.txt';
    await project.graph('login', [
      { id: 'A', create: ['a.txt'], verify },
      { id: 'B', create: ['b.txt'] },
      { id: 'C', create: ['d.txt'] },
    ]);
    await build(1);
    expect((await promptsOf(project, 'A'))[1]).toMatch(/went wrong in the last attempt[^]*found: bye\non stderr/);
    expect((await promptsOf(project, 'B'))[1]).toMatch(/changed 2 files that it does not own: README\.md, c\.txt/);
    expect(await Promise.all(['A', 'B', 'C'].map(outcomes))).toEqual([
      ['verification-failed', 'accepted'],
      ['not-owned', 'accepted'],
      ['no-change', 'accepted'],
    ]);
    expect(await noted('seen')).toBe('');
    expect(made()).toEqual(['a.txt', 'b.txt', 'd.txt']);
  });

  it('files that an attempt leaves reach neither the next one nor another task', async () => {
    const mess = [
      'echo spoilt >> README.md; git rm -q --cached README.md; echo 1 > $(git rev-parse --git-path index.lock); ln -s /etc link',
      'mkdir -p deep/down build/out; echo 1 | tee deep/down/file build/out/file; chmod 500 deep/down build/out; chmod 0 deep',
    ].join('\n');
    const look = 'git status --porcelain --ignored --untracked-files=all; cat README.md';
    await project.write('.gitignore', 'build/\n');
    project.commit('ignore build output');
    await configure()(
      await scriptedAgent(project, {
        FIRST: [`${mess}\nexit 1`, `{ ${look}; } > "$OUTSIDE/seen-FIRST"; echo 1 > first.txt`],
        OTHER: [`{ ${look}; } > "$OUTSIDE/seen-OTHER"; echo 1 > other.txt`],
      }),
    );
    await project.graph('login', [
      { id: 'FIRST', create: ['first.txt'], estimate_minutes: 20 },
      { id: 'OTHER', create: ['other.txt'], estimate_minutes: 10 },
    ]);
    await build(1);
    for (const id of ['FIRST', 'OTHER']) expect(await noted(`seen-${id}`)).toBe('# A project\n');
    expect(await Promise.all(['FIRST', 'OTHER'].map(outcomes))).toEqual([['agent-failed', 'accepted'], ['accepted']]);
  });

  it('gates find the culprit among several, publish the others and send it back with the log', async () => {
    const gate = 'if grep -l BUG *.txt; then echo "these have bugs"; exit 1; fi';
    const agent = await scriptedAgent(project, {
      C: ['echo BUG > C.txt', 'ls *.txt > "$OUTSIDE/seen"; echo mended > C.txt'],
    });
    await configure()(`gates: ${JSON.stringify([{ name: 'no bugs', command: gate }])}`, agent);
    const afterC = 'until [ -e "$OUTSIDE/prompt-C-1" ]; do sleep 0.02; done; sleep 0.3;';
    const other = (id: string): TestTask => ({ id, create: [`${id}.txt`], run: `${afterC} echo ${id} > ${id}.txt` });
    await project.graph('login', [other('A'), { id: 'C', create: ['C.txt'] }, other('D')]);
    await build(3);
    expect(await outcomes('C')).toEqual(['gate-failed', 'accepted']);
    expect((await promptsOf(project, 'C'))[1]).toMatch(/gate no bugs failed: exit status 1\nC\.txt\nthese have bugs/);
    expect(await noted('seen')).toBe('A.txt\nD.txt\n');
    expect(project.git('show', `${INTEGRATION}:C.txt`)).toBe('mended\n');
  });

  it('time limits end an attempt with all it started, and the next task finds nothing of it', async () => {
    const hidden = '( setsid nohup bash -c \'trap "" TERM HUP; while :; do sleep 0.2; done\' > /dev/null 2>&1 & )';
    const look =
      'for one in /proc/[0-9]*; do tr "\\0" " " < $one/cmdline; echo; done | grep -c "[t]rap " > "$OUTSIDE/survivors"; echo 1 > last.txt';
    // On a busy machine so short a limit strikes others too: they have further attempts.
    await configure('idle_timeout: 1s')(
      'retry: { attempts: 10 }',
      await scriptedAgent(project, {
        QUIET: [`${hidden}; echo 1 > /tmp/mine; sleep 600`, ...often('echo 1 > quiet.txt')],
        LAST: often(look),
      }),
    );
    const once = `test -e "$OUTSIDE/slow" || { touch "$OUTSIDE/slow"; ${hidden}; sleep 600; }`;
    await project.graph('login', [
      { id: 'QUIET', create: ['quiet.txt'] },
      {
        id: 'SLOW',
        create: ['s.txt'],
        run: 'echo 1 > s.txt',
        verification: { command: once, timeout_seconds: 1 },
      },
      { id: 'LAST', level: 2, create: ['last.txt'] },
    ]);
    await build(1);
    const [quiet, slow, last] = await Promise.all(['QUIET', 'SLOW', 'LAST'].map(outcomes));
    expect([quiet?.[0], quiet?.at(-1), slow?.at(-1), last?.at(-1)]).toEqual([
      'idle',
      'accepted',
      'accepted',
      'accepted',
    ]);
    expect(slow).toContain('verification-failed');
    expect(await noted('survivors')).toBe('0\n');
  });

  it('what Claude has used is added up, and what it may use ends there', async () => {
    const usage = '{"input_tokens":100,"output_tokens":10,"cache_read_input_tokens":5,"cache_creation_input_tokens":1}';
    const result = `{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"done","total_cost_usd":0.25,"usage":${usage}}`;
    const program = path.join(project.outside, 'claude');
    await writeFile(
      program,
      `#!/bin/bash\nif [ "$1" = --version ]; then echo 2.1.0; exit; fi\ncat > /dev/null\necho 1 > $MAHABHARATHA_TASK.txt\ntest -n "$ANTHROPIC_API_KEY" && echo '${result}'\n`,
      { mode: 0o755 },
    );
    await configure()('claude: { command: /outside/claude }');
    await project.graph('login', [
      { id: 'A', create: ['A.txt'], verify: 'test -z "$ANTHROPIC_API_KEY"' },
      { id: 'B', create: ['B.txt'] },
    ]);
    expect(await build(2)).toContain('  cost     $0.50 (212 tokens in, 20 out)');
    expect((await project.state()).tasks['A']?.attempts[0]).toMatchObject({
      usage: { costUsd: 0.25, outputTokens: 10 },
    });
  });
});
