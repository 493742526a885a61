import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { checkedMounts } from './container-config.ts';
import type { ConfigWishes } from './container-config.ts';

/** A project whose workers are to have this of `workers.container`, in a home folder with keys and data. */
function wishesFor(container: object): ConfigWishes {
  const top = tempFolder();
  for (const folder of ['home/.ssh', 'home/data', 'home/.config/mahabharatha', 'project/.git'])
    mkdirSync(path.join(top, folder), { recursive: true });
  writeFileSync(path.join(top, 'home/.config/mahabharatha/settings.yaml'), 'mounts: { allow: [~/data] }\n');
  const root = path.join(top, 'project');
  return {
    project: {
      repository: { root, commonDir: path.join(root, '.git'), objectFolders: () => Promise.resolve([]) },
      paths: { config: 'the config', placeOf: () => ({ top: path.join(top, 'state') }) },
    },
    config: { workers: { container: { network: 'allowlist', allow: [], mounts: [], ...container } } },
    env: { HOME: path.join(top, 'home') },
  } as unknown as ConfigWishes;
}

const mount = (source: string): object => ({ source, target: '/data', read_only: true });

describe('what the configuration says of containers', () => {
  it('is refused with all that is wrong with the allowlist and the mounts, whether or not there is an engine', async () => {
    const wishes = wishesFor({ allow: ['nmp', 'example.org', '*'], mounts: [mount('~/.ssh'), mount('/no/such')] });
    for (const endpoint of [null, '/run/docker.sock']) {
      await expect(checkedMounts(wishes, endpoint)).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        facts: {
          file: 'the config',
          problems: [
            expect.stringMatching(/^workers\.container\.allow: "nmp": /),
            expect.stringMatching(/^workers\.container\.allow: "\*": /),
            expect.stringMatching(/^workers\.container\.mounts\[0\] \(~\/\.ssh\): /),
            expect.stringMatching(/^workers\.container\.mounts\[1\] \(\/no\/such\): /),
          ],
        },
      });
    }
  });

  it.each(['none', 'open'])('is not refused for an allowlist that network %s does not use', async (network) => {
    const mounts = await checkedMounts(wishesFor({ network, allow: ['nmp'], mounts: [mount('~/data')] }), null);
    expect(mounts).toMatchObject([{ target: '/data', readOnly: true }]);
  });
});
