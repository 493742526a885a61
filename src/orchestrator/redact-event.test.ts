import { expect, it } from 'vitest';
import type { RunEvent } from '../state/index.ts';
import { redactEvent } from './redact-event.ts';

const redact = (text: string): string => text.replaceAll('secret', '***');

it('every text of an event is without secrets, file names and nested texts too', () => {
  const gate = { name: 'secret', ok: false, required: true, detail: 'a secret' };
  const red: RunEvent = { type: 'gates-failed', level: 1, attempt: '@g', count: 1, gates: [gate], log: 'the secret' };
  expect(redactEvent(red, redact)).toEqual({
    ...red,
    gates: [{ ...gate, name: '***', detail: 'a ***' }],
    log: 'the ***',
  });
  const text = 'changed 1 file that it does not own: keys/secret';
  expect(redactEvent({ type: 'warning', text }, redact)).toEqual({
    type: 'warning',
    text: text.replace('secret', '***'),
  });
});

it('ids, names and times of ours stay as they are: the state is made from them', () => {
  const event: RunEvent = {
    type: 'attempt-failed',
    task: 'secret',
    attempt: 1,
    worker: 0,
    outcome: 'not-owned',
    detail: 'secret',
    feedback: null,
    commit: 'secret',
    usage: { inputTokens: 1, outputTokens: 1, cacheReadTokens: 1, cacheWriteTokens: 1, costUsd: 1 },
    charge: 'failure',
    notBefore: 'secret',
  };
  expect(redactEvent(event, redact)).toEqual({ ...event, detail: '***' });
});
