import { expect, it } from 'vitest';
import { isOlder, versionIn } from './known-agents.ts';

it.each([
  ['2.1.197 (Claude Code)\n', '2.1.197'],
  ['codex-cli 0.169.0\n', '0.169.0'],
  ['0.61.0', '0.61.0'],
  ['no version', undefined],
])('the version in %j is %s', (text, version) => {
  expect(versionIn(text)).toBe(version);
});

it.each([
  ['1.2.3', '1.2.3', false],
  ['1.2.3', '1.2.4', true],
  ['1.10.0', '1.9.9', false],
  ['0.9.9', '1.0.0', true],
  ['2.0.0', '1.9.9', false],
])('%s is older than %s: %s', (version, than, older) => {
  expect(isOlder(version, than)).toBe(older);
});
