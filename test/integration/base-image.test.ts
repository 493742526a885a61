import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, describe, it } from 'vitest';
import { certify } from '../support/certificate.ts';
import { dockerForTests } from '../support/docker.ts';
import { tempFolder } from '../support/temp-folder.ts';

const SCRIPTS = fileURLToPath(new URL('../../docker/worker', import.meta.url));
const { image, why } = await dockerForTests();

/** Adds a certificate to the store by hand, which `update-ca-certificates` does not know. */
const BY_HAND = 'cat /given/hand.pem >> /etc/ssl/certs/ca-certificates.crt';
/** Prints which of the given certificates are in the store, and how many there are in all. */
const LOOK = `
for name in hand new; do
  ! tr -d '\\n' < /etc/ssl/certs/ca-certificates.crt | grep -qF "$(sed -n 2,4p /given/$name.pem | tr -d '\\n')" || echo "has $name"
done
echo "$(grep -c BEGIN /etc/ssl/certs/ca-certificates.crt) in all"`;

/** A fake apt-get, which writes the store anew as the package of certificates does. */
const APT = `printf '#!/bin/sh\\n[ "$1" != install ] || update-ca-certificates\\n' > /usr/local/bin/apt-get; chmod +x /usr/local/bin/apt-get`;

function inBase(script: string): string[] {
  const given = tempFolder();
  for (const name of ['hand', 'new']) {
    mkdirSync(path.join(given, name));
    copyFileSync(certify('127.0.0.1', path.join(given, name)).file, path.join(given, `${name}.pem`));
  }
  const mounts = [`--volume=${SCRIPTS}:/scripts:ro`, `--volume=${given}:/given:ro`];
  const args = ['run', '--rm', '--network=none', ...mounts, image, 'bash', '-euc', `${script}\n${LOOK}`];
  return execFileSync('docker', args, { encoding: 'utf8', stdio: 'pipe' }).trim().split('\n');
}

const size = (lines: readonly string[]): number => Number.parseInt(lines.at(-1) ?? '', 10);

describe.skipIf(why !== '')(`the certificates of a base${why === '' ? '' : ` (${why})`}`, () => {
  it('that were added to the store by hand stay when nothing is new', () => {
    const said = inBase(`${BY_HAND}; sh /scripts/add-certificates.sh /given/hand.pem`);
    expect(said).toContain('0 certificates added');
    expect(said).toContain('has hand');
    expect(said).not.toContain('has new');
  });

  it('that were added to the store by hand stay when another one is added, and are not there twice', () => {
    const before = size(inBase('true'));
    const said = inBase(
      `${BY_HAND}; sh /scripts/add-certificates.sh /given/new.pem; sh /scripts/add-certificates.sh /given/new.pem`,
    );
    expect(said).toEqual(
      expect.arrayContaining(['1 certificates added', '0 certificates added', 'has hand', 'has new']),
    );
    expect(size(said)).toBe(before + 2);
  });

  it('stay when another image is built on such an image, which overwrites no file of it', () => {
    const before = size(inBase('true'));
    const said = inBase(
      'sh /scripts/add-certificates.sh /given/hand.pem; sh /scripts/add-certificates.sh /given/new.pem; update-ca-certificates',
    );
    expect(said).toEqual(expect.arrayContaining(['has hand', 'has new']));
    expect(size(said)).toBe(before + 2);
  });

  it('stay when packages are installed, which writes the store anew', () => {
    const prepare = 'mkdir -p /opt/mahabharatha; cp /scripts/*.sh /opt/mahabharatha/; rm /usr/bin/curl';
    const said = inBase(`${BY_HAND}; ${APT}; ${prepare}; sh /opt/mahabharatha/prepare.sh`);
    expect(said).toContain('has hand');
  });
});

it.skipIf(why !== '')('a base with a Node older than 20.19 is refused', () => {
  const old = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.18.9' } })`;
  const stub = `echo "${old}" > /tmp/old.js; printf '#!/bin/sh\\nexec /usr/local/bin/node --require /tmp/old.js "$@"\\n' > /usr/local/sbin/node`;
  const said = inBase(`${stub}; chmod +x /usr/local/sbin/node; sh /scripts/prepare.sh 2>&1 || true`);
  expect(said.join('\n')).toContain('The base image needs Node 20.19 or newer');
});
