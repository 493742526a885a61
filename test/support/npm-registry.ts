import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

interface TestPackage {
  /** Its only version. */
  readonly version?: string;
  readonly files: Readonly<Record<string, string>>;
  /** Of its package.json. */
  readonly more?: Readonly<Record<string, unknown>>;
}

export interface NpmRegistry {
  readonly url: string;
  /** Paths of the requests. */
  readonly asked: string[];
  /** How long each answer takes from now on. */
  slow(ms: number): void;
  close(): Promise<void>;
}

/** A registry of npm with these packages, that containers reach at `host`. */
export async function startNpmRegistry(
  host: string,
  packages: Readonly<Record<string, TestPackage>>,
): Promise<NpmRegistry> {
  const asked: string[] = [];
  let delayMs = 0;
  let url = '';
  const answers = new Map<string, () => Buffer>();
  for (const [name, known] of Object.entries(packages)) {
    const { version = '1.0.0' } = known;
    const tarball = pack(name, version, known);
    const file = `${name}/-/${version}.tgz`;
    answers.set(file, () => tarball);
    answers.set(name, () => {
      const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
      const hasInstallScript = JSON.stringify(known.more ?? {}).includes('postinstall');
      const one = { name, version, ...known.more, hasInstallScript, dist: { tarball: `${url}${file}`, integrity } };
      return Buffer.from(JSON.stringify({ name, 'dist-tags': { latest: version }, versions: { [version]: one } }));
    });
  }
  const server = createServer((request, response) => {
    const wanted = decodeURIComponent(request.url ?? '').slice(1);
    asked.push(wanted);
    const answer = answers.get(wanted);
    setTimeout(() => {
      if (answer === undefined) response.writeHead(404).end('{"error":"not found"}');
      else response.end(answer());
    }, delayMs);
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  url = `http://${host}:${(server.address() as AddressInfo).port}/`;
  return {
    url,
    asked,
    slow: (ms) => void (delayMs = ms),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function pack(name: string, version: string, { files, more }: TestPackage): Buffer {
  const folder = mkdtempSync(path.join(tmpdir(), 'mahabharatha-package-'));
  const source = path.join(folder, 'package');
  const all = { 'package.json': JSON.stringify({ name, version, main: 'index.js', ...more }), ...files };
  for (const [file, content] of Object.entries(all)) {
    mkdirSync(path.dirname(path.join(source, file)), { recursive: true });
    writeFileSync(path.join(source, file), content);
  }
  const tarball = execFileSync('tar', ['-czf', '-', '-C', folder, 'package'], { maxBuffer: 2 ** 30 });
  rmSync(folder, { recursive: true });
  return tarball;
}
