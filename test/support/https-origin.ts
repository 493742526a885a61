import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { certify } from './certificate.ts';

/** A web server of this machine with a certificate of its own: an npm registry, a git server and a plain page. */
export interface HttpsOrigin {
  /** Say "https://172.17.0.1:40123". */
  readonly url: string;
  /** The authority that has signed the certificate. */
  readonly authority: string;
  /** Method and path of every request, in order. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

/** `/npm/` has the package `tiny` 1.0.0, `/git/tiny.git` a repository with one file, `/page` the word "page". */
export async function startHttpsOrigin(host: string, folder: string): Promise<HttpsOrigin> {
  const { key, certificate, file } = certify(host, folder);
  const tarball = pack(folder);
  commit(folder);
  const asked: string[] = [];
  let url = '';
  const server = createServer({ key, cert: certificate }, (request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const { pathname } = new URL(request.url ?? '', url);
    if (pathname.startsWith('/git/')) return serveGit(folder, request, response);
    if (pathname === '/npm/tiny') return void response.end(JSON.stringify(packument(`${url}/npm/tiny.tgz`, tarball)));
    if (pathname === '/npm/tiny.tgz') return void response.end(tarball);
    if (pathname === '/page') return void response.end('page\n');
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  url = `https://${host}:${(server.address() as AddressInfo).port}`;
  return {
    url,
    authority: file,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function pack(folder: string): Buffer {
  const source = path.join(folder, 'tiny', 'package');
  mkdirSync(source, { recursive: true });
  writeFileSync(path.join(source, 'package.json'), '{ "name": "tiny", "version": "1.0.0", "main": "index.js" }\n');
  writeFileSync(path.join(source, 'index.js'), "module.exports = 'from npm';\n");
  return execFileSync('tar', ['-czf', '-', '-C', path.dirname(source), 'package']);
}

function packument(tarball: string, content: Buffer): unknown {
  const integrity = `sha512-${createHash('sha512').update(content).digest('base64')}`;
  const version = { name: 'tiny', version: '1.0.0', dist: { tarball, integrity } };
  return { name: 'tiny', 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': version } };
}

function commit(folder: string): void {
  const [source, bare] = [path.join(folder, 'source'), path.join(folder, 'repositories', 'tiny.git')];
  mkdirSync(source);
  const git = (...args: string[]): Buffer => execFileSync('git', ['-C', source, ...args], { stdio: 'pipe' });
  git('init', '--quiet');
  writeFileSync(path.join(source, 'README.md'), 'from git\n');
  git('add', '.');
  git('-c', 'user.name=test', '-c', 'user.email=test@example.org', 'commit', '--quiet', '--message', 'first');
  git('clone', '--quiet', '--bare', source, bare);
}

/** As a web server serves git: by git's own CGI program. */
function serveGit(folder: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '', 'https://here');
  const cgi = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env['PATH'],
      GIT_PROJECT_ROOT: path.join(folder, 'repositories'),
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
      PATH_INFO: url.pathname.slice('/git'.length),
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'],
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'],
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  request.pipe(cgi.stdin);
  const parts: Buffer[] = [];
  cgi.stdout.on('data', (part: Buffer) => parts.push(part));
  cgi.once('close', () => {
    const answer = Buffer.concat(parts);
    const end = answer.indexOf('\r\n\r\n');
    const headers = answer.subarray(0, end).toString('latin1').split('\r\n');
    for (const header of headers) {
      const [name = '', value = ''] = header.split(': ');
      if (name === 'Status') response.statusCode = Number.parseInt(value, 10);
      else response.setHeader(name, value);
    }
    response.end(answer.subarray(end + 4));
  });
}
