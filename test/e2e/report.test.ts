import { execFile, execFileSync } from 'node:child_process';
import { lstat, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createProject, simpleTask } from '../support/project.ts';
import type { TestProject } from '../support/project.ts';

let project: TestProject;

beforeEach(async () => {
  project = await createProject();
});
afterEach(() => project.remove());

/** Goes on when the run has seen this: it looks at its workers now and then. */
const untilSeen = (type: string): string =>
  `until grep -q ${type} '${project.folder}/.mahabharatha/state/login/events.jsonl'; do sleep 0.05; done`;

describe('report', () => {
  it('tells a run in Markdown, as one page and for programs, on stdout and in files of the current folder', async () => {
    await project.config('gates: [{ name: unit tests, command: "true" }]\n');
    await project.graph('login', [
      simpleTask('A', {
        title: '<script>alert(1)</script>',
        verify: `${untilSeen('attempt-verifying')}; test -s A.txt`,
      }),
      simpleTask('B', {
        level: 2,
        run: 'if [ -e "$OUTSIDE/b" ]; then echo B > B.txt; else touch "$OUTSIDE/b"; exit 3; fi',
      }),
    ]);
    expect((await project.cli('kurukshetra')).exit).toBe(0);

    const text = (await project.cli('report')).stdout;
    for (const words of [
      '# Feature login: complete',
      '**attempts:** 3',
      '| B | Task B | 2 | merged | 2 |',
      'worker 0 ',
    ])
      expect(text).toContain(words);
    const told = JSON.parse((await project.cli('report', '--json')).stdout) as {
      timeline: { lanes: { spans: { of: string; kind: string; end: string }[] }[] };
    };
    expect(told).toMatchObject({
      type: 'report',
      status: 'complete',
      tasks: [{ attemptCount: 1 }, { attemptCount: 2 }],
      cost: null,
    });
    const spans = told.timeline.lanes.flatMap((lane) => lane.spans).map(({ kind, of, end }) => `${kind} ${of} ${end}`);
    expect(spans.toSorted()).toEqual([
      'gates level 1 good',
      'gates level 2 good',
      'verification A good',
      'work A good',
      'work B bad',
      'work B good',
    ]);

    await project.write('deep/down/keep.txt', '');
    const below = project.at(path.join(project.folder, 'deep', 'down'));
    expect((await below.cli('report', '--out', 'login.html')).stdout).toMatch(/^Written: .*deep\/down\/login\.html\n$/);
    const page = await project.read('deep/down/login.html');
    expect(page).toMatch(/^<!doctype html>\n<html lang="en">.*<\/html>\n$/s);
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect((await project.cli('report', '--format', 'html')).stdout).toBe(page);

    const wrong = await project.cli('report', '--format', 'pdf');
    expect([wrong.exit, wrong.stderr]).toEqual([2, expect.stringContaining('There is no format "pdf"')]);
    const nowhere = await project.cli('report', '--out', 'no/such/folder.md');
    expect([nowhere.exit, nowhere.stderr]).toEqual([2, expect.stringMatching(/There is no folder \S+no\/such\./)]);
  });

  it('goes through links and into pipes, and puts no file in their place', async () => {
    await project.graph('login', [simpleTask('A')]);
    await project.cli('kurukshetra');
    await writeFile(path.join(project.outside, 'kept.md'), 'old');
    await symlink(path.join(project.outside, 'kept.md'), path.join(project.folder, 'link.md'));
    execFileSync('mkfifo', [path.join(project.folder, 'pipe.md')]);

    expect((await project.cli('report', '--out', 'link.md')).exit).toBe(0);
    expect((await lstat(path.join(project.folder, 'link.md'))).isSymbolicLink()).toBe(true);
    expect(await readFile(path.join(project.outside, 'kept.md'), 'utf8')).toContain('# Feature login: complete');

    const reader = promisify(execFile)('timeout', ['20', 'cat', path.join(project.folder, 'pipe.md')]);
    expect((await project.cli('report', '--out', 'pipe.md')).exit).toBe(0);
    expect((await lstat(path.join(project.folder, 'pipe.md'))).isFIFO()).toBe(true);
    expect((await reader).stdout).toContain('# Feature login: complete');
  });
});
