import { expect, it } from 'vitest';
import type { Refusal } from '../../protocol/index.ts';
import { askedFor, refusalText } from './refusal-text.ts';

const refusal: Refusal = {
  at: '2026-01-01T00:00:00.000Z',
  worker: 0,
  source: 'egress',
  result: 'refused',
  repeat: 'first',
  count: 1,
  host: 'a.test',
  port: 443,
  reason: 'not-listed',
  rules: [],
  address: null,
  detail: '',
};
const rule = { host: 'a.test', covers: 'host', ports: [8443, 22], trustedPrivate: false } as const;

it.each<[Partial<Refusal>, string]>([
  [{}, 'refused a.test:443: not on the allowlist'],
  [{ reason: 'other-port', rules: [rule, rule] as never }, 'the allowlist has this host only for port 8443, 22'],
  [{ reason: 'leads-inside', address: '10.0.0.1' }, 'a.test:443: the name leads to 10.0.0.1, a private address'],
  [{ reason: 'leads-inside', address: 'made up' }, 'the name leads to made up, no address'],
  [{ reason: 'leads-inside' }, 'the name leads to , no address'],
  [{ reason: 'no-address', result: 'unreached', detail: 'ENOTFOUND' }, 'could not reach a.test:443: the name has no'],
  [{ repeat: 'again', count: 1 }, 'refused a.test:443 again, 1 time'],
  [{ repeat: 'others', result: 'unreached', count: 7 }, 'could not reach more that is not listed here, 7 times'],
])('a refusal is put into words from its fields, also from made-up ones: %j', (change, text) => {
  expect(refusalText({ ...refusal, ...change })).toContain(text);
});

it('what was asked for is the target, or the request where it names none', () => {
  expect(askedFor({ ...refusal, host: '::1', port: 80 })).toBe('[::1]:80');
  expect(askedFor({ ...refusal, host: null, port: null, detail: '/etc/passwd' })).toBe('/etc/passwd');
});
