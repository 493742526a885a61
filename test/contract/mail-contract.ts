import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { libErrors } from '../../src/lib/index.ts';
import type { Mail } from '../../src/mail/index.ts';
import { STATUS_LIMIT } from '../../src/protocol/index.ts';
import type { Assignment, Boot } from '../../src/protocol/index.ts';
import { waitUntil } from '../support/wait-until.ts';

/** What a worker does at its end of the mail. */
export interface WorkerSide {
  boot(): Promise<unknown>;
  /** Undefined before the first. */
  assignment(): Promise<unknown>;
  lease(): Promise<unknown>;
  writeStatus(text: string): Promise<void>;
  leaveBundle(content: string): Promise<void>;
}

export interface MailUnderTest {
  readonly mail: Mail;
  worker(worker: number): WorkerSide;
}

const boot = (session: string): Boot => ({
  version: 1,
  runId: 'run',
  feature: 'f',
  worker: 0,
  session,
  branch: 'b',
  checkedOut: null,
  likelyBase: null,
  setUp: false,
  bundles: true,
  singleUse: true,
  leaseMs: 1000,
  setup: null,
  stopGraceMs: 10,
});

const gates = (attempt: string): Assignment => ({ version: 1, kind: 'gate', attempt, base: 'c', gates: [] });

const read = async (file: string): Promise<string> => readFileSync(file, 'utf8');

/** What every implementation of mail does. */
export function mailContract(name: string, make: () => MailUnderTest): void {
  describe(`the mail contract: ${name}`, () => {
    it('gives a worker what it must know first, and no assignment before there is one', async () => {
      const { mail, worker } = make();
      await mail.open(0);
      await mail.brief(0, boot('one'));
      expect(await worker(0).boot()).toEqual(boot('one'));
      expect(await worker(0).assignment()).toBeUndefined();
      expect(await mail.readStatus(0)).toBeUndefined();
    });

    it('replaces an assignment as a whole, and delivers the same one again', async () => {
      const { mail, worker } = make();
      await mail.open(0);
      for (const attempt of ['a.1', 'b.1', 'b.1']) {
        await mail.deliver(0, gates(attempt));
        expect(await worker(0).assignment()).toEqual(gates(attempt));
      }
    });

    it('delivers nothing of an earlier session in the next one', async () => {
      const { mail, worker } = make();
      await mail.open(0);
      await mail.brief(0, boot('one'));
      await mail.deliver(0, gates('a.1'));
      await worker(0).writeStatus('old');
      await worker(0).leaveBundle('old');
      await mail.open(0);
      expect(
        await worker(0)
          .boot()
          .catch(() => undefined),
      ).toBeUndefined();
      await mail.brief(0, boot('two'));
      expect(await worker(0).boot()).toEqual(boot('two'));
      expect([await worker(0).assignment(), await mail.readStatus(0)]).toEqual([undefined, undefined]);
      expect(await mail.withBundle(0, 100, read)).toBeUndefined();
    });

    it('shows the mail of one worker to no other', async () => {
      const { mail, worker } = make();
      for (const number of [0, 1]) await mail.open(number);
      await mail.deliver(0, gates('a.1'));
      await worker(0).writeStatus('of 0');
      await worker(0).leaveBundle('of 0');
      expect([await worker(1).assignment(), await mail.readStatus(1)]).toEqual([undefined, undefined]);
      expect(await mail.withBundle(1, 100, read)).toBeUndefined();
    });

    it('delivers the last status as it was written, whatever its content, unless it is too large', async () => {
      const { mail, worker } = make();
      await mail.open(0);
      for (const text of ['{"phase":"idle"}', 'no JSON \u0000']) {
        await worker(0).writeStatus(text);
        expect(await mail.readStatus(0)).toBe(text);
      }
      await worker(0).writeStatus('x'.repeat(STATUS_LIMIT + 1));
      await expect(mail.readStatus(0)).rejects.toThrow(String(STATUS_LIMIT));
    });

    it('calls back after a worker has written, until the watch is closed', async () => {
      const { mail, worker } = make();
      await mail.open(0);
      let calls = 0;
      const watch = mail.watch(0, () => (calls += 1));
      onTestFinished(() => watch.close());
      await waitUntil('the watch has called back', async () => {
        await worker(0).writeStatus(`status ${calls}`);
        return calls > 0;
      });
    });

    it('copies a bundle while it is used, where its worker cannot change it, and removes the copy afterwards', async () => {
      const { mail, worker } = make();
      await mail.open(0);
      await worker(0).leaveBundle('commits');
      let copy = '';
      const content = await mail.withBundle(0, 100, async (file) => {
        copy = file;
        await worker(0).leaveBundle('changed');
        return read(file);
      });
      expect([content, existsSync(copy)]).toEqual(['commits', false]);
      const refused = mail.withBundle(0, 100, async (file) => {
        copy = file;
        throw new Error('refused');
      });
      await expect(refused).rejects.toThrow('refused');
      expect(existsSync(copy)).toBe(false);
    });

    it('refuses a bundle that is too large', async () => {
      const { mail, worker } = make();
      await mail.open(0);
      await worker(0).leaveBundle('x'.repeat(101));
      const code = libErrors.FILE_UNREADABLE({ file: '', reason: '' }).code;
      await expect(mail.withBundle(0, 100, read)).rejects.toMatchObject({ code });
    });

    it('renews the lease until it is closed', async () => {
      const { mail, worker } = make();
      await mail.open(0);
      const lease = await mail.keepLease(120);
      onTestFinished(() => lease.close());
      const first = JSON.stringify(await worker(0).lease());
      await waitUntil('the lease is renewed', async () => JSON.stringify(await worker(0).lease()) !== first);
    });
  });
}
