import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { writeFileAtomic } from '../../src/lib/index.ts';
import { makeDisk, noDisk } from '../support/power-loss.ts';
import { BRANCH, openPrivate } from '../support/private-checkout.ts';
import { tempRepository } from '../support/temp-repository.ts';

const refused = noDisk();

it('the bundle of a result is whole when the power is lost after the result was written', async (context) => {
  context.skip(refused !== undefined, refused);
  const worker = await openPrivate(tempRepository());
  worker.write('new.txt', 'new\n');
  const commit = await worker.commit();
  const disk = makeDisk();
  try {
    const [file, status] = ['work.bundle', 'status.json'].map((name) => path.join(disk.folder, name)) as [
      string,
      string,
    ];
    await worker.workspace.bundle({ branch: BRANCH, base: worker.base, commit, file });
    const before = readFileSync(file, 'latin1');
    await writeFileAtomic(status, commit, { durable: true });
    disk.cutPower();
    await disk.restorePower();
    expect(readFileSync(status, 'utf8')).toBe(commit);
    expect(readFileSync(file, 'latin1')).toBe(before);
  } finally {
    disk.remove();
  }
});
