import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import {
  CLAUDE_CODE_VERSION,
  CODEX_VERSION,
  DEFAULT_BASE,
  GEMINI_VERSION,
  OPENCODE_VERSION,
} from '../../src/images/index.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const TEXT = readFileSync(path.join(ROOT, 'docker-compose.yaml'), 'utf8');
const dockerfileOf = (name: string): string => readFileSync(path.join(ROOT, `docker/${name}.Dockerfile`), 'utf8');
const compose = z.object({ services: z.record(z.string(), z.record(z.string(), z.unknown())) }).parse(parse(TEXT));

const LOCKED = { read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] };

it('the compose file gives no container more rights than a worker has, but for the engine that the server needs', () => {
  const { serve, ...others } = compose.services;
  expect(serve).toMatchObject({ ...LOCKED, ports: [expect.stringMatching(/^127\.0\.0\.1:/)] });
  expect(Object.keys(others)).toEqual(['check']);
  for (const service of Object.values(others)) {
    expect(service).toMatchObject({
      ...LOCKED,
      user: expect.stringMatching(/^[1-9]\d*:[1-9]\d*$/),
      network_mode: 'none',
      mem_limit: '4g',
      memswap_limit: '4g',
      cpus: 2,
      pids_limit: expect.any(Number),
    });
    expect(service).not.toHaveProperty('volumes');
  }
  for (const service of Object.values(compose.services))
    for (const risk of ['privileged', 'cap_add', 'devices', 'pid', 'ipc', 'env_file', 'environment'])
      expect(service).not.toHaveProperty(risk);
});

it('the compose file, the Dockerfile and the command agree on what they build', () => {
  expect(TEXT).toContain(`\${BASE_IMAGE:-${DEFAULT_BASE}}`);
  for (const name of ['worker', 'serve', 'sandbox'])
    expect(dockerfileOf(name)).toContain(`ARG BASE_IMAGE=${DEFAULT_BASE}\n`);
  const dockerfile = dockerfileOf('worker');
  expect(dockerfile).toContain(`ARG CLAUDE_CODE_VERSION=${CLAUDE_CODE_VERSION}\n`);
  const ci = readFileSync(path.join(ROOT, '.ci/run'), 'utf8');
  const tested = { CLAUDE_CODE_VERSION, CODEX_VERSION, GEMINI_VERSION, OPENCODE_VERSION };
  for (const [name, version] of Object.entries(tested)) expect(ci).toContain(`\n${name}=${version}\n`);
});

it.each(['worker', 'serve', 'sandbox'])('a build by hand of %s.Dockerfile gets all that it copies', (name) => {
  const kept = readFileSync(path.join(ROOT, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('!'));
  const copies = [...dockerfileOf(name).matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, files = '']) =>
    files.split(' '),
  );
  expect(copies.length).toBeGreaterThan(1);
  const isKept = (file: string): boolean => kept.some((line) => `${file}/`.startsWith(`${line.slice(1)}/`));
  expect(copies.filter((file) => !isKept(file))).toEqual([]);
});
