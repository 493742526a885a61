import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { tempFolder } from './temp-folder.ts';

const SCRIPTS = ['prepare.sh', 'add-certificates.sh', 'fetch-claude.sh', 'fetch-agent.sh', 'healthcheck.sh', 'init.sh'];

/** A package with the sources of images, which a test may change. */
export function packageFolder(program = 'work()'): string {
  const root = tempFolder();
  for (const folder of [
    'docker/worker',
    'docker/sandbox',
    'docker/bun',
    'dist/bundle/worker',
    'dist/bundle/egress',
    'dist/bundle/sandbox-agent',
  ])
    mkdirSync(path.join(root, folder), { recursive: true });
  const tail = '# What makes it a worker: this\nUSER 1000:1000\n';
  writeFileSync(path.join(root, 'docker/worker.Dockerfile'), `ARG BASE_IMAGE\nFROM \${BASE_IMAGE}\nRUN x\n${tail}`);
  for (const name of SCRIPTS) writeFileSync(path.join(root, 'docker/worker', name), name);
  writeFileSync(path.join(root, 'dist/bundle/worker/worker.js'), program);
  writeFileSync(path.join(root, 'docker/sandbox.Dockerfile'), 'ARG BASE_IMAGE\nFROM ${BASE_IMAGE}\n');
  for (const name of [
    'prelude.sh',
    'wait.sh',
    'fork-server.py',
    'end-program.py',
    'fork-server.rb',
    'empty-folders.mjs',
    'own-folders.mjs',
  ])
    writeFileSync(path.join(root, 'docker/sandbox', name), name);
  writeFileSync(path.join(root, 'docker/bun.Dockerfile'), 'ARG BASE_IMAGE\nFROM ${BASE_IMAGE}\n');
  writeFileSync(path.join(root, 'docker/bun/fetch-bun.sh'), 'fetch');
  writeFileSync(path.join(root, 'dist/bundle/egress/egress.js'), 'pass()');
  writeFileSync(path.join(root, 'dist/bundle/sandbox-agent/sandbox-agent.js'), 'run()');
  return root;
}
