import { describe, expect, it } from 'vitest';
import { createRedactor } from './redact.ts';

describe('a redactor', () => {
  it('replaces every occurrence of every secret', () => {
    const redact = createRedactor(['first-secret', 'other-secret']);
    expect(redact('first-secret, other-secret and first-secret again')).toBe(
      '[redacted], [redacted] and [redacted] again',
    );
    expect(redact('nothing of the kind')).toBe('nothing of the kind');
  });

  it('replaces the longer one when a secret is part of another', () => {
    expect(createRedactor(['secret-1', 'my-secret-1-long'])('my-secret-1-long')).toBe('[redacted]');
  });

  it('replaces a secret as it is written in JSON, and in JSON within JSON', () => {
    const secret = 'pass"word\\ü\n2';
    const redact = createRedactor([secret]);
    const line = JSON.stringify({ text: `it is ${secret}!` });
    expect(JSON.parse(redact(line))).toEqual({ text: 'it is [redacted]!' });
    expect(JSON.parse(redact(JSON.stringify({ line })))).toEqual({ line: '{"text":"it is [redacted]!"}' });
  });

  it('treats special characters of regular expressions and replacements as plain text', () => {
    const redact = createRedactor(['a.c(d)*[e', '$&$1$$$`']);
    expect(redact('a.c(d)*[e abc(d)*[e $&$1$$$`')).toBe('[redacted] abc(d)*[e [redacted]');
  });

  it('replaces a secret of many lines line by line, as logs have it', () => {
    const redact = createRedactor(['-----BEGIN KEY-----\nMIIEowIBAAKCAQEA\n  abc\n-----END KEY-----\n']);
    expect(redact('MIIEowIBAAKCAQEA')).toBe('[redacted]');
    expect(redact('the letters abc stay')).toBe('the letters abc stay');
  });

  it('does not replace what is too short to be a secret', () => {
    expect(createRedactor(['', 'test', '1234567'])('a test of 1234567')).toBe('a test of 1234567');
    expect(createRedactor(['12345678'])('a test of 12345678')).toBe('a test of [redacted]');
  });
});
