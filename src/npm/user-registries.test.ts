import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { npmThat } from '../../test/support/npm.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { askUserRegistries, defaultRegistry, npmEnvironment, registriesIn } from './user-registries.ts';

const LISTING = `; "default" config from default values
; registry = "https://default.test/" ; overridden by user
replace-registry-host = "npmjs"
; "user" config from /home/me/.npmrc
registry = "https://me:***@packages.test/npm/?token=made-up"
@acme:registry = "http://10.0.0.7:4873/"
@beta:registry = "https://packages.test/other/"
@odd:registry = "https://\${NOT_SET}.test/"
@ftp:registry = "ftp://packages.test/"
; @old:registry = "https://old.test/" ; overridden by project
//packages.test/:_authToken = (protected)
`;

describe("the user's npm registries", () => {
  it('are the default one and those of scopes, as hosts alone', () => {
    expect(registriesIn(LISTING).map(String)).toEqual(['https://packages.test/', 'http://10.0.0.7:4873/']);
  });

  it('have a default one, without password and token', () => {
    expect(defaultRegistry(LISTING)).toBe('https://packages.test/npm/');
    expect(defaultRegistry('registry = "nonsense"')).toBeUndefined();
    expect(defaultRegistry('')).toBeUndefined();
  });

  it('are those of the npm of this machine', async () => {
    const { hosts, missing } = await askUserRegistries(process.env);
    expect(missing).toBeUndefined();
    expect(hosts.length).toBeGreaterThan(0);
  });

  it('include those with a password in the address, which is not in the answer', async () => {
    const folder = tempFolder();
    const file = path.join(folder, 'npmrc');
    const scopes = ['@acme:registry=https://me:secret@scoped.test:8443/x/', '//scoped.test:8443/x/:_authToken=secret'];
    writeFileSync(file, ['registry=https://me:secret@packages.test/', ...scopes, ''].join('\n'));
    const env = { PATH: process.env['PATH'], HOME: folder, npm_config_userconfig: file };
    const found = await askUserRegistries(env);
    expect(found.hosts.map(String).toSorted()).toEqual(['https://packages.test/', 'https://scoped.test:8443/']);
    expect(JSON.stringify(found)).not.toContain('secret');
  });

  it.each([
    ['exit 1', 'it names none'],
    ['echo', 'it names none'],
    [`echo 'registry = "https://\${HOST}/"'`, 'its address has a variable in it, which is not filled in'],
  ])('are none when npm does %j, and the answer says why', async (does, missing) => {
    expect(await askUserRegistries(npmThat(does))).toEqual({ hosts: [], missing });
  });
});

describe('npm is asked', () => {
  it('with those variables alone that lead to its files', () => {
    const kept = {
      PATH: '/bin',
      HOME: '/home/me',
      npm_config_userconfig: '/x',
      NPM_CONFIG_REGISTRY: 'https://a.test/',
    };
    const more = {
      AWS_SECRET_ACCESS_KEY: 'x',
      NODE_OPTIONS: '--require /x',
      npm_config_logs_dir: '/x',
      INIT_CWD: '/x',
    };
    expect(npmEnvironment({ ...kept, ...more })).toEqual(kept);
  });

  it('in an empty folder, which is removed afterwards', async () => {
    const witness = path.join(tempFolder(), 'witness');
    await askUserRegistries(npmThat(`pwd > ${witness}; ls -A >> ${witness}; echo "$*" >> ${witness}`));
    const [folder = '', inside, args] = readFileSync(witness, 'utf8').split('\n');
    expect(inside).toBe('package.json');
    expect(args).toContain(`--cache=${folder}`);
    expect(existsSync(folder)).toBe(false);
  });

  it('where no .npmrc above its folder counts, which another user may have put into the folder for temporary files', async () => {
    const above = tempFolder();
    mkdirSync(path.join(above, 'node_modules'));
    writeFileSync(path.join(above, '.npmrc'), 'registry=https://planted.test/\n');
    const before = process.env['TMPDIR'];
    process.env['TMPDIR'] = above;
    try {
      const { hosts } = await askUserRegistries({ PATH: process.env['PATH'], HOME: above.concat('/home') });
      expect(hosts.map(String).join()).not.toContain('planted');
    } finally {
      if (before === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = before;
    }
  });
});
