import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../../test/support/temp-folder.ts';
import { buildImage } from './build.ts';
import { openCli, USUAL_LIMITS } from './cli.ts';

it('the arguments of a build contain no name and password of a proxy: other users of the machine can read them', async () => {
  const folder = tempFolder();
  const [program, told] = [path.join(folder, 'container'), path.join(folder, 'told')];
  writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$@" > ${told}\n`);
  chmodSync(program, 0o755);
  const lines: string[] = [];
  const buildArgs = {
    HTTPS_PROXY: 'http://me:made-up-word@proxy.test:3128',
    http_proxy: 'me:made-up-word@proxy.test',
    NO_PROXY: 'localhost',
    BASE_IMAGE: 'registry.test/node@sha256:abc',
  };
  const plan = {
    tag: 'x:1',
    files: [],
    dockerfile: 'Dockerfile',
    buildArgs,
    labels: {},
    platform: null,
    noCache: false,
  };
  await buildImage(openCli(program, {}, USUAL_LIMITS), plan, (line) => lines.push(line));
  const args = readFileSync(told, 'utf8');
  expect(args).not.toContain('made-up-word');
  for (const arg of ['HTTPS_PROXY=http://proxy.test:3128', 'http_proxy=proxy.test', 'NO_PROXY=localhost'])
    expect(args).toContain(`--build-arg\n${arg}\n`);
  expect(args).toContain('--build-arg\nBASE_IMAGE=registry.test/node@sha256:abc\n');
  expect(lines).toEqual([expect.stringContaining('HTTPS_PROXY and http_proxy')]);
});
