import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

let top: string;
afterEach(() => rmSync(top, { recursive: true, force: true, maxRetries: 5 }));

/** Numbers differ from run to run, and so do ids of commits. */
const masked = (line: string): string =>
  line
    .replaceAll(/\b[0-9a-f]{7,64}\b/g, 'ID')
    .replaceAll(/\d+(\.\d+)?/g, '0')
    .trim();

interface Followed {
  readonly output: string;
  /** Lines that the document shows, and that were not printed. */
  readonly notSeen: readonly string[];
}

/** Does what the README of an example says, as a new user with an empty home would. */
function follow(example: string): Followed {
  top = realpathSync(mkdtempSync(path.join(tmpdir(), 'mahabharatha-example-')));
  const [home, bin] = [path.join(top, 'home'), path.join(top, 'bin')];
  for (const folder of [home, bin]) mkdirSync(folder);
  writeFileSync(path.join(home, '.gitconfig'), '[user]\n  name = New User\n  email = new@example.org\n');
  symlinkSync(path.join(ROOT, 'bin/mahabharatha.js'), path.join(bin, 'mahabharatha'));
  const text = readFileSync(path.join(ROOT, 'examples', example, 'README.md'), 'utf8');
  const blocks = (language: string): string =>
    [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(([, block]) => block).join('');
  const { XDG_STATE_HOME: _state, XDG_CONFIG_HOME: _config, ...rest } = process.env;
  const env = { ...rest, HOME: home, PATH: `${bin}:${rest['PATH']}` };
  const { status, stdout, stderr } = spawnSync('bash', ['-euc', `exec 2>&1\n${blocks('sh')}`], {
    cwd: ROOT,
    env,
    encoding: 'utf8',
  });
  expect(status, stdout + stderr).toBe(0);
  const printed = new Set(stdout.split('\n').map(masked));
  const shown = blocks('text').split('\n');
  return { output: stdout, notSeen: shown.filter((line) => line !== '…' && !printed.has(masked(line))) };
}

describe('the worked examples', () => {
  it('a Node library: three levels, a task that needs two attempts, and a merged branch', () => {
    const { output, notSeen } = follow('node-library');
    expect(notSeen, output).toEqual([]);
    expect(output).toContain('5 of 5 tasks are merged');
    expect(output).toMatch(/PARSE-L2-001.*verification-failed/);
  });

  describe.skipIf(docker.why !== '')(`in containers${whySkipped}`, () => {
    beforeAll(buildWorkerImage);

    it('Python with an image of its own, and without a network', () => {
      const { output, notSeen } = follow('python-in-containers');
      expect(notSeen, output).toEqual([]);
      expect(output).toContain('6 of 6 tasks are merged');
    });
  });
});
