import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { writeFileAtomic } from '../lib/index.ts';
import type { Assignment } from '../protocol/index.ts';
import { openInbox } from './inbox.ts';

/** As when a task of the same user has taken all inotify instances, or all watches. */
const failing = vi.hoisted(() => ({ code: undefined as string | undefined }));
vi.mock(import('node:fs'), async (original) => {
  const fs = await original();
  const watch = ((...args: Parameters<typeof fs.watch>) => {
    if (failing.code === undefined) return fs.watch(...args);
    throw Object.assign(new Error(`${failing.code}: watch`), { code: failing.code });
  }) as typeof fs.watch;
  return { ...fs, watch, default: { ...fs, watch } };
});

const assignment = (attempt: string): Assignment => ({ version: 1, kind: 'gate', attempt, base: 'b', gates: [] });

it.each([undefined, 'EMFILE', 'ENOSPC'])(
  'an assignment is found, whether or not a folder can be watched: %s',
  async (code) => {
    failing.code = code;
    const folder = tempFolder();
    const inbox = openInbox(folder);
    onTestFinished(() => inbox.close());
    const signal = new AbortController().signal;
    const first = inbox.next(null, signal);
    await writeFileAtomic(path.join(folder, 'assignment.json'), JSON.stringify(assignment('A.1')), { durable: false });
    expect(await first).toMatchObject({ attempt: 'A.1' });
    const second = inbox.next('A.1', signal);
    await writeFileAtomic(path.join(folder, 'assignment.json'), JSON.stringify(assignment('A.2')), { durable: false });
    expect(await second).toMatchObject({ attempt: 'A.2' });
  },
);
