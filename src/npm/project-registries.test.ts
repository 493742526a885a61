import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { registriesOfNpmrc } from './npmrc.ts';
import { readProjectRegistries } from './project-registries.ts';

function repository(...lines: string[]): string {
  const folder = tempFolder();
  writeFileSync(path.join(folder, '.npmrc'), `${lines.join('\n')}\n`);
  return folder;
}

const named = (text: string): unknown[] =>
  registriesOfNpmrc(text).map(({ key, address }) => [key, address instanceof URL ? address.href : 'refused']);

describe("a repository's own .npmrc", () => {
  it('is read only for registries', async () => {
    const folder = repository(
      '; a comment',
      'registry = https://packages.test/npm/ ; the mirror',
      '"@acme:registry"="https://acme.test:8443/"',
      'logs-dir=/tmp/anywhere',
      'userconfig=/etc/passwd',
      'script-shell=/bin/evil',
      '//packages.test/:_authToken=secret',
    );
    const { registry, addresses, warnings } = await readProjectRegistries(folder);
    expect(registry).toBe('https://packages.test/npm/');
    expect(addresses.map(String)).toEqual(['https://packages.test/npm/', 'https://acme.test:8443/']);
    expect(warnings).toEqual([]);
  });

  it.each([
    ['registry=https://${AWS_SECRET_ACCESS_KEY}.test/', 'a variable of your environment'],
    ['registry=https://a.test/${HOME?}', 'a variable of your environment'],
    ['@a:registry="https://a.test/\\u0024{HOME}"', 'a variable of your environment'],
    ['registry=file:///etc/', 'no address with http or https'],
    ['registry=not-an-address', 'no address with http or https'],
  ])('is not followed, and the warning does not quote it: %s', async (line, why) => {
    const { addresses, warnings } = await readProjectRegistries(repository('# first', line));
    expect(addresses).toEqual([]);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/^The \.npmrc of the repository: line 2 \("(@a:)?registry"\) is not followed: /);
    expect(warnings[0]).toContain(why);
    expect(warnings[0]).not.toMatch(/AWS_SECRET|HOME|etc|not-an-address/);
  });

  it('has addresses without password, token and fragment', () => {
    expect(named('registry=https://me:secret@a.test/x/?token=secret#secret')).toEqual([
      ['registry', 'https://a.test/x/'],
    ]);
  });

  it('counts with the last line of a key, as in npm', () => {
    expect(named('registry=https://a.test/\nregistry=https://b.test/\r\n')).toEqual([['registry', 'https://b.test/']]);
  });

  it('has no settings below a heading, and none in keys that only look like a registry', () => {
    expect(named('registry[]=https://a.test/\n@a b:registry=https://a.test/\nother-registry=https://a.test/')).toEqual(
      [],
    );
    expect(named('[x]\nregistry=https://a.test/')).toEqual([]);
  });

  it('is not read when it is a link, not a plain file, or too large, with a warning', async () => {
    const linked = tempFolder();
    writeFileSync(path.join(linked, 'elsewhere'), 'registry=https://a.test/\n');
    symlinkSync('elsewhere', path.join(linked, '.npmrc'));
    const folderThere = tempFolder();
    mkdirSync(path.join(folderThere, '.npmrc'));
    const large = repository('x'.repeat(70_000), 'registry=https://a.test/');
    for (const folder of [linked, folderThere, large]) {
      const { addresses, warnings } = await readProjectRegistries(folder);
      expect(addresses).toEqual([]);
      expect(warnings).toEqual([expect.stringMatching(/^The \.npmrc of the repository is not read: .+\.$/)]);
    }
    expect(await readProjectRegistries(tempFolder())).toEqual({ addresses: [], warnings: [] });
  });

  it('names 50 registries at most', async () => {
    const scopes = Array.from({ length: 51 }, (_, index) => `@s${index}:registry=https://s${index}.test/`);
    const { addresses, warnings } = await readProjectRegistries(repository(...scopes));
    expect(addresses).toEqual([]);
    expect(warnings.join()).toContain('it names 51 registries, the limit is 50');
  });
});
