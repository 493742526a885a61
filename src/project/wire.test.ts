import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { loadConfig } from '../config/index.ts';
import { runOptions } from './wire.ts';

it.each([
  ['500m', 500 * 1024 ** 2],
  ['10g', 1024 ** 3],
])('a bundle may be as large as the disk of its worker (%s), up to a limit of its own', async (disk, bytes) => {
  const file = path.join(tempFolder(), 'config.yaml');
  writeFileSync(file, `workers: { container: { disk: ${disk} } }\n`);
  const config = await loadConfig(file);
  const stop = new AbortController().signal;
  const options = runOptions(config, {
    agentFor: () => ({ kind: 'shell' }),
    copies: [],
    deadlineMs: null,
    spentMs: 0,
    env: {},
    redact: (text) => text,
    stop,
    singleUse: false,
  });
  expect(options.bundleBytes).toBe(bytes);
});
