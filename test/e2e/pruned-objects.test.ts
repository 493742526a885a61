import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { withChaos, eventsSoFar, expectBuilt, killIfThere, sees, tracedTask } from '../support/chaos.ts';
import type { Chaos } from '../support/chaos.ts';
import { expectSound } from '../support/check-run.ts';

const TASKS = ['A', 'B', 'C'];

/**
 * As a `git prune --expire=now` does it that has looked for what is needed a moment before: once the merges are kept by
 * their ref, and so many tasks are in them, an object of them is gone. `$merged` is the commit that the ref names.
 */
async function pruneAfterMerges({ outside, project }: Chaos, tasks: number, object: string): Promise<void> {
  const real = execFileSync('which', ['git'], { encoding: 'utf8' }).trim();
  const script = `#!/bin/bash
case " $* " in *" update-ref "*)
  input=$(mktemp '${outside}/input-XXXXXX')
  cat > "$input"
  '${real}' "$@" < "$input" || exit
  merged=$(grep -a '@trial' "$input" | grep -ao '[0-9a-f]\\{40\\}' | head -n 1)
  if [ -n "$merged" ] && [ "$('${real}' ls-tree --name-only "$merged" | grep -c '^[A-C][.]txt')" -ge ${tasks} ] &&
      mkdir '${outside}/pruned' 2> /dev/null; then
    object=$('${real}' rev-parse "${object}")
    rm -f "${project.folder}/.git/objects/\${object:0:2}/\${object:2}"
  fi
  exit 0 ;;
esac
exec '${real}' "$@"
`;
  await writeFile(path.join(outside, 'bin', 'git'), script);
}

it.each([
  ['with gates', 'gates: [{ name: all, command: "test -f A.txt" }]'],
  ['without gates', ''],
])('merges of which a prune has taken a part are made anew, and it is no fault of a task: %s', (_, gates) =>
  withChaos(async (chaos) => {
    await chaos.project.config(`workers: { count: 1 }\nretry: { attempts: 1 }\n${gates}\n`);
    await chaos.project.graph(
      'login',
      TASKS.map((id) => tracedTask(chaos, id, { seconds: 0 })),
    );
    // With one task in it, the merged tree is that of the task as well.
    await pruneAfterMerges(chaos, 2, '$merged^{tree}');
    await expectBuilt(chaos, await chaos.project.cli('kurukshetra'), TASKS);
    const events = eventsSoFar(chaos.project).map(({ type }) => type);
    expect(events).toContain('trial-dropped');
    expect(events).not.toContain('attempt-failed');
    expect(events).not.toContain('gates-failed');
  }),
);

it('a task of whose merged commit a prune has taken a part is done again', () =>
  withChaos(async (chaos) => {
    await chaos.project.config('workers: { count: 1 }\nretry: { attempts: 1 }\n');
    await chaos.project.graph(
      'login',
      TASKS.map((id) => tracedTask(chaos, id, { seconds: 0, run: `${tracedTask(chaos, id).run}; sleep 0.$RANDOM` })),
    );
    await pruneAfterMerges(chaos, 1, '$merged:A.txt');
    await expectBuilt(chaos, await chaos.project.cli('kurukshetra'), TASKS);
    expect(await chaos.timesRan('A')).toBe(2);
    const failed = eventsSoFar(chaos.project).filter((event) => event.type === 'attempt-failed');
    expect(failed).toMatchObject([{ task: 'A', outcome: 'lost' }]);
  }));

/** The same with what a worker has just made, as its branch names it already: `$made` is that commit. */
async function pruneAfterCommit({ outside, project }: Chaos, object: string): Promise<void> {
  const real = execFileSync('which', ['git'], { encoding: 'utf8' }).trim();
  const script = `#!/bin/bash
'${real}' "$@" || exit
case "$*" in *"update-ref refs/heads/mahabharatha/login/worker-"*)
  if mkdir '${outside}/pruned' 2> /dev/null; then
    made="\${@: -1}"
    object=$('${real}' rev-parse "${object}")
    rm -f "${project.folder}/.git/objects/\${object:0:2}/\${object:2}"
  fi ;;
esac
`;
  await writeFile(path.join(outside, 'bin', 'git'), script);
}

it.each(['$made', '$made^{tree}', '$made:A.txt'])(
  'a task of whose commit a prune has taken %s is done again',
  (object) =>
    withChaos(async (chaos) => {
      await chaos.project.config('workers: { count: 1 }\nretry: { attempts: 1 }\n');
      await chaos.project.graph('login', [tracedTask(chaos, 'A', { seconds: 0 })]);
      await pruneAfterCommit(chaos, object);
      await expectBuilt(chaos, await chaos.project.cli('kurukshetra'), ['A']);
      const failed = eventsSoFar(chaos.project).filter((event) => event.type === 'attempt-failed');
      expect(failed).toMatchObject([{ task: 'A', outcome: 'lost', charge: 'loss' }]);
    }),
);

it('a commit that a prune takes before the orchestrator has given it a ref is made again, and costs its task nothing', () =>
  withChaos(async (chaos) => {
    const { outside, project } = chaos;
    await project.config('workers: { count: 1 }\nretry: { attempts: 1 }\n');
    // Made in the same second, the worker's own commit would be the same object.
    const verify = 'sleep 1.1; test -f A.txt';
    await project.graph('login', [tracedTask(chaos, 'A', { seconds: 0, verify })]);
    const real = execFileSync('which', ['git'], { encoding: 'utf8' }).trim();
    const script = `#!/bin/bash
case "$MAHABHARATHA_SESSION $*" in " "*"commit-tree"*)
  made=$('${real}' "$@") || exit
  if mkdir '${outside}/pruned' 2> /dev/null; then rm -f "${project.folder}/.git/objects/\${made:0:2}/\${made:2}"; fi
  echo "$made"
  exit 0 ;;
esac
exec '${real}' "$@"
`;
    await writeFile(path.join(outside, 'bin', 'git'), script);

    await expectBuilt(chaos, await project.cli('kurukshetra'), ['A']);

    expect(existsSync(path.join(outside, 'pruned'))).toBe(true);
    expect(eventsSoFar(project).map(({ type }) => type)).not.toContain('attempt-failed');
    expect(await chaos.timesRan('A')).toBe(1);
  }));

it('a run that is stopped leaves no branch of a worker of which a prune has taken a part', () =>
  withChaos(async (chaos) => {
    const { project } = chaos;
    const verify = `touch '${chaos.outside}/begun'; sleep 3600`;
    await project.graph('login', [tracedTask(chaos, 'A', { seconds: 0, verify })]);
    await pruneAfterCommit(chaos, '$made');
    const live = project.start('kurukshetra');
    await sees(live, () => existsSync(path.join(chaos.outside, 'begun')));
    killIfThere(live.pid, 'SIGINT');
    expect((await live.end).exit).toBe(130);
    expectSound(project, 'after a prune and a stop');
  }));
