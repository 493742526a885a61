import { rm } from 'node:fs/promises';
import path from 'node:path';
import { keepLease } from '../lease/index.ts';
import { copyUntrusted, makeFolder, readUntrustedNow, removeTree, watchFolder, writeFileAtomic } from '../lib/index.ts';
import { BUNDLE, STATUS_LIMIT } from '../protocol/index.ts';
import type { FeaturePaths, WorkerPaths } from '../state/index.ts';
import type { Mail } from './mail.ts';

interface MailPaths extends Pick<FeaturePaths, 'lease'> {
  worker(worker: number): Pick<WorkerPaths, 'inbox' | 'outbox' | 'status' | 'bundle'>;
}

/** Mail in folders of the host: the orchestrator writes inboxes and the lease, each worker its own outbox. */
export function createFolderMail(paths: MailPaths): Mail {
  const write = async (worker: number, name: string, value: unknown): Promise<void> => {
    const file = path.join(paths.worker(worker).inbox, name);
    await writeFileAtomic(file, JSON.stringify(value), { durable: false });
  };
  return {
    open: async (worker) => {
      const { inbox, outbox } = paths.worker(worker);
      for (const folder of [inbox, outbox]) {
        await removeTree(folder);
        await makeFolder(folder);
      }
    },
    brief: async (worker, boot) => write(worker, 'worker.json', boot),
    deliver: async (worker, assignment) => write(worker, 'assignment.json', assignment),
    readStatus: async (worker) => readUntrustedNow(paths.worker(worker).status, STATUS_LIMIT),
    watch: (worker, onNews) => watchFolder(paths.worker(worker).outbox, onNews),
    withBundle: async (worker, maxBytes, use) => {
      const { outbox, bundle } = paths.worker(worker);
      try {
        const copied = await copyUntrusted(path.join(outbox, BUNDLE), bundle, maxBytes);
        return copied ? await use(bundle) : undefined;
      } finally {
        await rm(bundle, { force: true });
      }
    },
    keepLease: async (leaseMs) => keepLease(paths.lease, leaseMs),
  };
}
