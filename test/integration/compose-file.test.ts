import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { CLAUDE_CODE_VERSION, DEFAULT_BASE } from '../../src/images/index.ts';

const TEXT = readFileSync(path.resolve(import.meta.dirname, '../../docker-compose.yaml'), 'utf8');
const compose = z.object({ services: z.record(z.string(), z.record(z.string(), z.unknown())) }).parse(parse(TEXT));

it('the compose file gives no container more rights than a worker has', () => {
  const services = Object.values(compose.services);
  expect(services.length).toBeGreaterThan(0);
  for (const service of services) {
    expect(service).toMatchObject({
      user: expect.stringMatching(/^[1-9]\d*:[1-9]\d*$/),
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      network_mode: 'none',
      mem_limit: '4g',
      memswap_limit: '4g',
      cpus: 2,
      pids_limit: expect.any(Number),
    });
    for (const risk of ['privileged', 'cap_add', 'devices', 'pid', 'ipc', 'volumes', 'env_file']) {
      expect(service).not.toHaveProperty(risk);
    }
  }
});

it('the compose file, the Dockerfile and the command agree on what they build', () => {
  expect(TEXT).toContain(`\${BASE_IMAGE:-${DEFAULT_BASE}}`);
  const dockerfile = readFileSync(path.resolve(import.meta.dirname, '../../docker/worker.Dockerfile'), 'utf8');
  expect(dockerfile).toContain(`ARG BASE_IMAGE=${DEFAULT_BASE}\n`);
  expect(dockerfile).toContain(`ARG CLAUDE_CODE_VERSION=${CLAUDE_CODE_VERSION}\n`);
});
