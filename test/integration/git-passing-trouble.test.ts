import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRepository } from '../../src/git/index.ts';
import type { Repository } from '../../src/git/index.ts';
import { startNode } from '../support/node-process.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { tempRepository } from '../support/temp-repository.ts';

const GC_BESIDE = 'error: unable to create temporary file: No such file or directory';

interface Scene {
  readonly repository: Repository;
  readonly first: string;
  readonly second: string;
  /** Makes the next commands with this verb fail in this way; with `after`, once they have done their work. */
  fails(verb: string, times: number, stderr: string, when?: 'before' | 'after'): void;
  /** How often git was run with this verb since. */
  calls(): number;
}

async function setScene(): Promise<Scene> {
  const temp = tempRepository();
  const [first, second] = [temp.commit({ a: '1' }), temp.commit({ a: '2' })];
  const folder = tempFolder();
  const bin = path.join(folder, 'bin');
  mkdirSync(bin);
  const real = execFileSync('which', ['git'], { encoding: 'utf8' }).trim();
  const file = (name: string): string => path.join(folder, name);
  for (const name of ['verb', 'calls', 'stderr', 'when', 'left']) writeFileSync(file(name), '');
  writeFileSync(
    path.join(bin, 'git'),
    `#!/bin/bash
cd_to='${folder}'
verb=$(cat "$cd_to/verb")
case " $* " in
  *" $verb "*)
    if [ -n "$verb" ]; then
      echo . >> "$cd_to/calls"
      left=$(cat "$cd_to/left")
      if [ "$left" -gt 0 ]; then
        echo $((left - 1)) > "$cd_to/left"
        if [ "$(cat "$cd_to/when")" = after ]; then '${real}' "$@"; fi
        if [ "$(cat "$cd_to/stderr")" = SIGINT ]; then kill -INT $$; fi
        cat "$cd_to/stderr" >&2
        exit 128
      fi
    fi;;
esac
exec '${real}' "$@"
`,
  );
  chmodSync(path.join(bin, 'git'), 0o755);
  const repository = await openRepository(temp.folder, { ...temp.env, PATH: `${bin}:${temp.env['PATH']}` });
  return {
    repository,
    first,
    second,
    fails: (verb, times, stderr, when = 'before') => {
      const wishes = { verb, left: String(times), stderr, when, calls: '' };
      for (const [name, text] of Object.entries(wishes)) writeFileSync(file(name), text);
    },
    calls: () => readFileSync(file('calls'), 'utf8').length / 2,
  };
}

describe('a failure that passes, as during a `git gc`,', () => {
  it('does not end commands that only read or write objects', async () => {
    const { repository, first, second, fails, calls } = await setScene();
    fails('commit-tree', 2, GC_BESIDE);
    const merged = await repository.merge({ tip: first, commit: second, message: 'm' });
    expect(merged.kind).toBe('merged');
    expect(calls()).toBe(3);
  });

  it('is not taken for a missing commit', async () => {
    const { repository, second, fails } = await setScene();
    fails('diff-tree', 1, 'fatal: unable to open object pack directory: .git/objects/pack: Too many open files');
    expect(await repository.commitFacts(second)).toMatchObject({ changed: ['a'] });
    fails('rev-parse', 1, 'fatal: Out of memory, malloc failed');
    expect(await repository.readRef('refs/heads/main')).toBe(second);
  });

  it('does not end a change of refs, and no change is made twice', async () => {
    const { repository, first, second, fails, calls } = await setScene();
    const lock = "fatal: Unable to create '/x/.git/packed-refs.lock': File exists.";
    for (const when of ['before', 'after'] as const) {
      const ref = `refs/heads/${when}`;
      await repository.changeRefs([{ ref, to: first, from: null }]);
      fails('update-ref', 1, lock, when);
      await repository.changeRefs([{ ref, to: second, from: first }]);
      expect(await repository.readRef(ref)).toBe(second);
      expect(calls()).toBe(when === 'before' ? 2 : 1);
    }
  });

  it('includes a git that Ctrl-C at the terminal has ended', async () => {
    const { repository, second, fails } = await setScene();
    fails('diff-tree', 1, 'SIGINT');
    expect(await repository.commitFacts(second)).toMatchObject({ changed: ['a'] });
  });

  it('is reported after some tries when it does not pass', async () => {
    const { repository, first, fails, calls } = await setScene();
    fails('diff-tree', 100, GC_BESIDE);
    await expect(repository.commitFacts(first)).rejects.toMatchObject({ code: 'GIT_FAILED', exit: 4 });
    expect(calls()).toBe(5);
  });
});

it('a failure that does not pass is reported at once', async () => {
  const { repository, first, fails, calls } = await setScene();
  fails('commit-tree', 100, 'fatal: empty ident name not allowed');
  await expect(repository.merge({ tip: first, commit: first, message: 'm' })).rejects.toMatchObject({
    code: 'GIT_FAILED',
  });
  expect(calls()).toBe(1);
});

/** A process that takes all descriptors and then uses the repository. */
const code = (release: string): string => `
  import { openSync, closeSync } from 'node:fs';
  import { openRepository } from './git/index.js';
  import { processStart } from './lib/index.js';
  const repository = await openRepository(process.env.FOLDER, process.env);
  const taken = [];
  try { for (;;) taken.push(openSync('/dev/null')); } catch {}
  ${release}
  try {
    console.log('read', await repository.readRef('HEAD') !== undefined, await processStart(process.pid) !== undefined);
  } catch (error) {
    for (const fd of taken) closeSync(fd);
    console.log('failed', error.code, error.exit, error.message);
  }`;
const few = (program: string, folder: string): ReturnType<typeof startNode> =>
  startNode(
    `
    import { spawnSync } from 'node:child_process';
    const limited = ['-c', 'ulimit -n 1024; exec "$0" --input-type=module -e "$CODE"', process.execPath];
    const { stdout, stderr } = spawnSync('bash', limited, { encoding: 'utf8', env: { ...process.env, CODE: ${JSON.stringify(program)} } });
    console.log(stdout + stderr);`,
    { FOLDER: folder },
  );

describe('a machine that has run out of descriptors', () => {
  it('for a moment ends nothing', async () => {
    const { folder } = tempRepository();
    const { output } = await few(code('setTimeout(() => { for (const fd of taken) closeSync(fd); }, 100);'), folder)
      .end;
    expect(output.trim()).toBe('read true true');
  });

  it('for good is reported as such', async () => {
    const { folder } = tempRepository();
    const { output } = await few(code(''), folder).end;
    expect(output.trim()).toMatch(/^failed RESOURCES_EXHAUSTED 4 .*too many files are open in this process/);
  });
});

it('a record of a worktree that another process is writing does not keep git from saying where a branch is checked out', async () => {
  const { repository, first } = await setScene();
  await repository.changeRefs([{ ref: 'refs/heads/other', to: first, from: null }]);
  const record = path.join(repository.commonDir, 'worktrees', 'half');
  mkdirSync(record, { recursive: true });
  writeFileSync(path.join(record, 'gitdir'), '/nowhere/.git\n');
  for (const name of ['commondir', 'HEAD']) writeFileSync(path.join(record, name), '');
  setTimeout(() => writeFileSync(path.join(record, 'commondir'), '../..\n'), 150);
  await expect(repository.checkNotCheckedOut('other')).resolves.toBeUndefined();
});
