import { describe, expect, it } from 'vitest';
import { readAbsoluteUri, readAuthority, readHost, targetText } from './target.ts';

describe('a host', () => {
  it.each([
    ['Example.ORG', 'example.org'],
    ['example.org.', 'example.org'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['a_b.example', 'a_b.example'],
    ['localhost', 'localhost'],
  ])('%s is the name %s', (text, host) => {
    expect(readHost(text)).toEqual({ host, isAddress: false });
  });

  it.each([
    ['1.2.3.4', '1.2.3.4'],
    ['2130706433', '127.0.0.1'],
    ['0x7f.1', '127.0.0.1'],
    ['0X7F000001', '127.0.0.1'],
    ['0177.0.0.1', '127.0.0.1'],
    ['127.1', '127.0.0.1'],
    ['127.0.0.1.', '127.0.0.1'],
    ['0', '0.0.0.0'],
    ['[::1]', '::1'],
    ['[::FFFF:127.0.0.1]', '127.0.0.1'],
    ['[0:0:0:0:0:ffff:a9fe:a9fe]', '169.254.169.254'],
  ])('%s is the address %s', (text, host) => {
    expect(readHost(text)).toEqual({ host, isAddress: true });
  });

  it.each([
    '',
    '.',
    '..',
    'a..b',
    '.example.org',
    'example.org..',
    '1.2.3.4.5',
    '256.256.256.256',
    '4294967296',
    'xn--',
    'bücher.example',
    'ⓔxample.org',
    '１２７.0.0.1',
    'exa%6dple.org',
    'user@example.org',
    'example.org/path',
    'example.org\\path',
    'exa mple.org',
    'example.org\0.evil.test',
    'example.org\r\n',
    'example.org\t',
    '[::1',
    '[fe80::1%25eth0]',
    '[fe80::1%eth0]',
    '[::1]x',
    '[1.2.3.4]',
    '::1',
    'a'.repeat(300),
  ])('%j is none', (text) => {
    expect(readHost(text)).toBeUndefined();
  });
});

describe('what CONNECT asks for', () => {
  it.each([
    ['example.org:443', 'example.org:443'],
    ['[::1]:8443', '[::1]:8443'],
    ['017700000001:80', '127.0.0.1:80'],
  ])('%s is %s', (text, target) => {
    const read = readAuthority(text);
    expect(read && targetText(read)).toBe(target);
  });

  it.each([
    'example.org',
    'example.org:',
    'example.org:0',
    'example.org:65536',
    'example.org:-1',
    'example.org:0x50',
    'example.org:80:80',
    'user@example.org:443',
    'http://example.org:443',
    'example.org:443/',
    'example.org:443?x',
    '::1:443',
    ':443',
    '[]:443',
    '*:443',
  ])('%j is refused', (text) => {
    expect(readAuthority(text)).toBeUndefined();
  });
});

describe('what plain HTTP asks for', () => {
  it.each([
    ['http://Example.org', 'example.org:80', '/'],
    ['HTTP://example.org:8080/a/b?c=d', 'example.org:8080', '/a/b?c=d'],
    ['http://example.org?q=http://other.test/', 'example.org:80', '/?q=http://other.test/'],
    ['http://[fd00::1]:8080/x', '[fd00::1]:8080', '/x'],
    ['http://example.org/@evil.test', 'example.org:80', '/@evil.test'],
  ])('%s is %s and %s', (text, target, path) => {
    const read = readAbsoluteUri(text);
    expect(read && targetText(read.target)).toBe(target);
    expect(read?.path).toBe(path);
  });

  it.each([
    '/path',
    '*',
    'example.org:80',
    'https://example.org/',
    'ftp://example.org/',
    'file:///etc/passwd',
    'http:/example.org/',
    'http:example.org',
    'http:///path',
    'http://user:pw@example.org/',
    'http://good.test@evil.test/',
    'http://good.test\\@evil.test/',
    'http://good.test#@evil.test/',
    'http://good.test:80@evil.test/',
    ' http://example.org/',
    'http://example.org:/',
  ])('%j is refused', (text) => {
    expect(readAbsoluteUri(text)).toBeUndefined();
  });
});
