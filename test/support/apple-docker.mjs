// What the parts of the program that stands for Apple's `container` share.
import { spawnSync } from 'node:child_process';

export const MARK = 'apple.stand-in';
export const VERSION = process.env.APPLE_VERSION ?? '1.2.2';
/** Answers have other forms before version 1.0. */
export const isOld = VERSION.startsWith('0.');

export class Refusal extends Error {
  constructor(kind, message) {
    super(`${kind}: "${message}"`);
  }
}

export function docker(args, options = {}) {
  const done = spawnSync('docker', args, { encoding: 'utf8', maxBuffer: 2 ** 28, ...options });
  return { code: done.status ?? 1, stdout: done.stdout ?? '', stderr: done.stderr ?? '' };
}

export function dockerOrRefuse(args) {
  const { code, stdout, stderr } = docker(args);
  if (code !== 0) throw new Refusal('internalError', wordsOf(stderr));
  return stdout;
}

export const wordsOf = (stderr) =>
  stderr
    .replace(/^Error response from daemon: /, '')
    .split('\n')[0]
    .trim();
export const print = (text) => process.stdout.write(`${text}\n`);
export const printJson = (value) => print(JSON.stringify(value));
export const fullName = (name) =>
  /^[^/]+[.:][^/]*\//.test(name) ? name : `docker.io/${name.includes('/') ? '' : 'library/'}${name}`;
export const shortName = (name) => name.replace(/^docker\.io\/(library\/)?/, '');
