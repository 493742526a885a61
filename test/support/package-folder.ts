import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { SANDBOX_IMAGE, WORKER } from '../../src/images/package-image.ts';
import { tempFolder } from './temp-folder.ts';

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
  for (const script of [...WORKER.scripts, ...SANDBOX_IMAGE.scripts])
    writeFileSync(path.join(root, script), path.basename(script));
  writeFileSync(path.join(root, 'dist/bundle/worker/worker.js'), program);
  writeFileSync(path.join(root, 'docker/sandbox.Dockerfile'), 'ARG BASE_IMAGE\nFROM ${BASE_IMAGE}\n');
  writeFileSync(path.join(root, 'docker/bun.Dockerfile'), 'ARG BASE_IMAGE\nFROM ${BASE_IMAGE}\n');
  writeFileSync(path.join(root, 'docker/bun/fetch-bun.sh'), 'fetch');
  writeFileSync(path.join(root, 'dist/bundle/egress/egress.js'), 'pass()');
  writeFileSync(path.join(root, 'dist/bundle/sandbox-agent/sandbox-agent.js'), 'run()');
  return root;
}
