import { execFileSync } from 'node:child_process';
import { mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createContainerProject } from '../support/container-project.ts';
import type { ContainerProject } from '../support/container-project.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

/** Makes a package of that version and puts it into npm's cache. */
const add = (version: string): string =>
  `mkdir p && echo '{ "name": "p", "version": "${version}" }' > p/package.json && npm pack ./p && rm -r p && ` +
  `npm cache add ./p-${version}.tgz && rm p-${version}.tgz`;

describe.skipIf(docker.why !== '')(`further folders in a worker's container${whySkipped}`, () => {
  let project: ContainerProject;
  beforeAll(buildWorkerImage);
  afterEach(async () => {
    expect(project.leftovers()).toEqual([]);
    await project.remove();
  });

  it('are refused with exit 2 before anything starts when they lead to what is private', async () => {
    project = await createContainerProject({
      container: [
        'mounts:',
        '  - { source: ~/.ssh, target: /keys }',
        '  - { source: ../outside/link, target: /link }',
        '  - { source: "~", target: /everything }',
        '  - { source: /etc, target: /machine }',
        '  - { source: .git/hooks, target: /hooks }',
        '  - { source: ../outside, target: /workspace/inside }',
      ].join('\n'),
    });
    const home = project.env['HOME'] ?? '';
    for (const folder of ['.ssh', '.aws']) await mkdir(path.join(home, folder));
    await symlink(path.join(home, '.aws'), path.join(project.outside, 'link'));
    await project.graph('login', [{ id: 'A', create: ['a.txt'], run: 'echo a > a.txt' }]);

    const { exit, stderr } = await project.cli('kurukshetra');

    expect(exit).toBe(2);
    expect(stderr).toContain('has 6 problems');
    for (const [index, reason] of [
      '.ssh is never',
      '.aws is never',
      '.ssh is never',
      '/etc is never',
      '.git is never',
      'is not free',
    ].entries())
      expect(stderr).toMatch(new RegExp(`mounts\\[${index}\\] .*${reason}`));
    await expect(project.state()).rejects.toMatchObject({ code: 'ENOENT' });
    expect(project.git('branch', '--list', 'mahabharatha/*')).toBe('');
  });

  it('are refused when only the repository asks for them: the user allows folders in a file of their own', async () => {
    project = await createContainerProject({
      container: [
        'network: none',
        'mounts:',
        '  - { source: ../outside/data, target: /data }',
        '  - { source: ../outside/bin, target: /programs, read_only: false }',
      ].join('\n'),
    });
    for (const name of ['data', 'bin']) await mkdir(path.join(project.outside, name));
    await project.graph('login', [{ id: 'A', create: ['a.txt'], run: 'ls / > a.txt' }]);

    const neither = await project.cli('kurukshetra');
    expect(neither.exit).toBe(2);
    expect(neither.stderr).toContain('has 2 problems');
    const settings = path.join(project.env['HOME'] ?? '', '.config/mahabharatha/settings.yaml');
    for (const name of ['data', 'bin'])
      expect(neither.stderr).toContain(`you have not allowed any repository to mount ${project.outside}/${name}; if`);
    expect(neither.stderr).toContain(`add it under mounts.allow in ${settings}`);

    await project.allowMounts(project.outside);
    const one = await project.cli('kurukshetra');
    expect(one.exit).toBe(2);
    expect(one.stderr).toContain('has 1 problem');
    expect(one.stderr).toContain(`mounts[1] (../outside/bin): you have allowed ${project.outside} for reading only`);
    expect((await project.cli('doctor')).stdout).toMatch(/✗ config .*has 1 problem/);
    await expect(project.state()).rejects.toMatchObject({ code: 'ENOENT' });

    await project.allowMounts(project.outside, `{ folder: "${project.outside}/bin", writable: true }`);
    const doctor = await project.cli('doctor');
    expect(doctor.stdout).toContain(`${settings}: repositories may mount 2 folders`);
    const both = await project.cli('kurukshetra');
    expect(both.exit, both.stderr).toBe(0);
    expect(project.git('show', 'mahabharatha/login/integration:a.txt')).toMatch(/\bdata\n[^]*programs\n/);
  });

  it('are not allowed by a settings file inside the repository', async () => {
    project = await createContainerProject({
      container: 'network: none\nmounts: [{ source: ../outside, target: /data }]',
    });
    project.env['XDG_CONFIG_HOME'] = path.join(project.folder, 'planted');
    await project.write('planted/mahabharatha/settings.yaml', `mounts: { allow: ["${project.outside}"] }\n`);
    await project.graph('login', [{ id: 'A', create: ['a.txt'], run: 'true' }]);
    const { exit, stderr } = await project.cli('kurukshetra');
    expect(exit).toBe(2);
    expect(stderr).toContain('you have not allowed any repository');
  });

  it('are reported together with the allowlist, and by doctor and a dry run in the words of a run', async () => {
    const allow = ['nmp', 'http://foo.com/x', '*', '1.2.3.4', '10.0.0.0/8', 'a b', 'example.org:http', '*.1.2.3.4:80'];
    const sources = ['~/.ssh', '/', '/var/run/docker.sock', '/no/such'];
    project = await createContainerProject({
      container: [
        `allow: ${JSON.stringify(allow)}`,
        'mounts:',
        ...sources.map((source, index) => `  - { source: "${source}", target: /m${index} }`),
      ].join('\n'),
    });
    await mkdir(path.join(project.env['HOME'] ?? '', '.ssh'));
    await project.graph('login', [{ id: 'A', create: ['a.txt'], run: 'echo a > a.txt' }]);

    const run = await project.cli('kurukshetra');
    const dry = await project.cli('kurukshetra', '--dry-run');
    const doctor = await project.cli('doctor', '--json');

    expect([run.exit, dry.exit, doctor.exit]).toEqual([2, 2, 4]);
    expect(run.stderr).toContain('config.yaml has 12 problems');
    for (const entry of allow) expect(run.stderr).toContain(`workers.container.allow: "${entry}": `);
    for (const source of sources) expect(run.stderr).toContain(` (${source}): `);
    expect(dry.stderr).toBe(run.stderr);
    const { findings } = JSON.parse(doctor.stdout) as { findings: { what: string; found: string; remedy: string }[] };
    const config = findings.find(({ what }) => what === 'config');
    expect(config).toMatchObject({ state: 'bad' });
    expect(run.stderr).toContain(`${config?.found}\n\n${config?.remedy}`);
  });

  it('keep downloads for the next run: caches outlive runs, and belong to their repository', async () => {
    project = await createContainerProject({ container: 'network: none\ncaches: [npm]' });
    const volumes = ['volume', 'ls', '--filter', `label=mahabharatha.cache=${project.folder}`, '--format', '{{.Name}}'];
    const ofRepository = (): string => execFileSync('docker', volumes, { encoding: 'utf8' }).trim();
    try {
      await project.graph('one', [
        {
          id: 'A',
          create: ['one.txt'],
          run: `${add('1.0.0')} && echo 1 > one.txt`,
        },
      ]);
      // Two workers, who are two users when root has started them, read and write what a third has left.
      await project.graph('two', [
        { id: 'B', create: ['two.txt'], run: `${add('2.0.0')} && npm cache ls > two.txt` },
        { id: 'C', create: ['three.txt'], run: `${add('3.0.0')} && npm cache ls > three.txt` },
      ]);
      for (const [feature, workers] of [
        ['one', '1'],
        ['two', '2'],
      ] as const) {
        const { exit, stdout } = await project.cli('kurukshetra', '--feature', feature, '--workers', workers);
        expect({ exit, said: exit === 0 ? '' : stdout }).toEqual({ exit: 0, said: '' });
        expect(project.leftovers()).toEqual([]);
        expect(ofRepository()).toMatch(/^mahabharatha-cache-[0-9a-f]{12}-npm(-\d+)?$/);
      }
      for (const file of ['two.txt', 'three.txt'])
        expect(project.git('show', `mahabharatha/two/integration:${file}`)).toContain('p-1.0.0.tgz');
    } finally {
      const left = ofRepository();
      if (left !== '') execFileSync('docker', ['volume', 'rm', left], { stdio: 'ignore' });
    }
  });
});
