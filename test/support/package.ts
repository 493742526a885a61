import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

interface InstalledPackage {
  /** The clone that it was packed from. */
  readonly clone: string;
  readonly tarball: string;
  /** Where npm has put it. */
  readonly folder: string;
  /** What npm has put on the PATH. */
  readonly program: string;
  /** What npm has printed when it was installed. */
  readonly said: string;
  remove(): void;
}

/** Packs this clone and installs the tarball as `npm install --global` does, into a prefix of its own. */
export function installPackage(): InstalledPackage {
  const top = realpathSync(mkdtempSync(path.join(tmpdir(), 'mahabharatha-package-')));
  const [clone, prefix] = [path.join(top, 'clone'), path.join(top, 'prefix')];
  copyClone(clone);
  npm(['pack', '--pack-destination', top], clone);
  const tarball = path.join(top, readdirSync(top).find((name) => name.endsWith('.tgz')) ?? '');
  const said = npm(['install', '--global', '--prefix', prefix, '--no-audit', '--no-fund', tarball], top);
  return {
    clone,
    tarball,
    folder: path.join(prefix, 'lib/node_modules/mahabharatha'),
    program: path.join(prefix, 'bin/mahabharatha'),
    said,
    remove: () => rmSync(top, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** Packing changes files of a clone for a moment, and builds its programs anew: here other tests use them. */
function copyClone(clone: string): void {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  for (const file of listed.split('\0').filter((name) => name !== '')) {
    mkdirSync(path.dirname(path.join(clone, file)), { recursive: true });
    cpSync(path.join(ROOT, file), path.join(clone, file), { verbatimSymlinks: true });
  }
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(clone, 'node_modules'));
}

/** Returns what npm says on both streams. */
function npm(args: readonly string[], cwd: string): string {
  return execFileSync('bash', ['-c', 'exec npm "$@" 2>&1', 'npm', ...args], { cwd, encoding: 'utf8' });
}
