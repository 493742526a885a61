import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

export interface Certificate {
  readonly key: string;
  /** Self-signed, so a client that trusts it trusts the server. */
  readonly certificate: string;
  readonly file: string;
}

/** For a server at this address. */
export function certify(host: string, folder: string): Certificate {
  const [key, file] = [path.join(folder, 'key.pem'), path.join(folder, 'certificate.pem')];
  // Behind a proxy, npm compares the certificate with "localhost" when the URL has an IP address.
  const names = `subjectAltName=IP:${host},DNS:localhost`;
  const request = ['-subj', '/CN=test', '-addext', names, '-days', '2'];
  const output = ['-keyout', key, '-out', file];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...request, ...output], { stdio: 'pipe' });
  return { key: readFileSync(key, 'utf8'), certificate: readFileSync(file, 'utf8'), file };
}
