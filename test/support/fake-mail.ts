import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { libErrors } from '../../src/lib/index.ts';
import type { Mail } from '../../src/mail/index.ts';
import { STATUS_LIMIT } from '../../src/protocol/index.ts';
import type { MailUnderTest } from '../contract/mail-contract.ts';

interface Box {
  readonly boot: unknown;
  assignment?: unknown;
  status?: string;
  bundle?: string;
}

/** Mail without a shared file system: kept in memory, as a launcher on another machine would send it in messages. */
export function createFakeMail(): MailUnderTest {
  const boxes = new Map<number, Box>();
  const watches = new Map<number, Set<() => void>>();
  let lease = 0;
  const change = (worker: number, changes: Partial<Box>): void => {
    boxes.set(worker, { boot: undefined, ...boxes.get(worker), ...changes });
  };
  const mail: Mail = {
    open: async (worker) => void boxes.set(worker, { boot: undefined }),
    brief: async (worker, boot) => change(worker, { boot }),
    deliver: async (worker, assignment) => change(worker, { assignment }),
    readStatus: async (worker) => limited(boxes.get(worker)?.status, STATUS_LIMIT),
    watch: (worker, onNews) => {
      const known = watches.get(worker) ?? new Set();
      watches.set(worker, known.add(onNews));
      return { close: () => void known.delete(onNews) };
    },
    withBundle: async (worker, maxBytes, use) => {
      const content = limited(boxes.get(worker)?.bundle, maxBytes);
      if (content === undefined) return undefined;
      const folder = mkdtempSync(path.join(tmpdir(), 'mahabharatha-test-mail-'));
      try {
        const file = path.join(folder, 'bundle');
        writeFileSync(file, content);
        return await use(file);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
    keepLease: async (leaseMs) => {
      const timer = setInterval(() => (lease += 1), leaseMs / 6);
      return { close: () => clearInterval(timer) };
    },
  };
  return {
    mail,
    worker: (worker) => ({
      boot: async () => boxes.get(worker)?.boot,
      assignment: async () => boxes.get(worker)?.assignment,
      lease: async () => lease,
      writeStatus: async (status) => {
        change(worker, { status });
        for (const call of watches.get(worker) ?? []) call();
      },
      leaveBundle: async (bundle) => change(worker, { bundle }),
    }),
  };
}

function limited(text: string | undefined, limit: number): string | undefined {
  if (text === undefined || text.length <= limit) return text;
  throw libErrors.FILE_UNREADABLE({ file: 'mail', reason: `it has ${text.length} bytes, the limit is ${limit}` });
}
