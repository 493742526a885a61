import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { writeFileAtomic } from '../../src/lib/index.ts';
import { createFolderMail } from '../../src/mail/index.ts';
import { BUNDLE } from '../../src/protocol/index.ts';
import { projectPaths } from '../../src/state/index.ts';
import type { FeaturePaths } from '../../src/state/index.ts';
import { createFakeMail } from '../support/fake-mail.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { mailContract } from './mail-contract.ts';
import type { MailUnderTest } from './mail-contract.ts';

const json = async (file: string): Promise<unknown> => JSON.parse(readFileSync(file, 'utf8'));

function folders(): { readonly paths: FeaturePaths } & MailUnderTest {
  const folder = tempFolder();
  const paths = projectPaths(folder, () => ({
    folder: path.join(folder, 'run'),
    record: path.join(folder, 'run.json'),
    top: folder,
  })).feature('f');
  return {
    paths,
    mail: createFolderMail(paths),
    worker: (worker) => {
      const { inbox, outbox, status } = paths.worker(worker);
      return {
        boot: async () => json(path.join(inbox, 'worker.json')),
        assignment: async () => json(path.join(inbox, 'assignment.json')).catch(() => undefined),
        lease: async () => json(paths.lease),
        writeStatus: async (text) => writeFileAtomic(status, text, { durable: false }),
        leaveBundle: async (content) => writeFileSync(path.join(outbox, BUNDLE), content),
      };
    },
  };
}

mailContract('folders of the host', folders);
mailContract('without a shared file system', createFakeMail);

it('a link in the place of a status or a bundle is not followed', async () => {
  const { mail, paths } = folders();
  await mail.open(0);
  const { outbox, status } = paths.worker(0);
  const secret = path.join(tempFolder(), 'secret');
  writeFileSync(secret, 'secret');
  symlinkSync(secret, status);
  symlinkSync(secret, path.join(outbox, BUNDLE));
  await expect(mail.readStatus(0)).rejects.toThrow();
  await expect(mail.withBundle(0, 100, async (file) => readFileSync(file, 'utf8'))).rejects.toThrow();
});
