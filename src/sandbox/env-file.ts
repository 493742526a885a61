import { sandboxErrors } from './errors.ts';

/** Of a file, in bytes and in variables. */
export const ENV_FILE_BYTES = 64 * 1024;
const MOST = 256;
/** Of the problems that are named. */
const NAMED = 10;

/**
 * Pure. Reads lines `NAME=value`, with `export`, comments and quotes. Nothing is expanded, and no value goes over more
 * than one line. Throws ENV_FILE_INVALID, which names lines and no values.
 */
export function parseEnvFile(file: string, content: Buffer): Record<string, string> {
  const text = content.toString('utf8');
  const problems: string[] = [];
  const env = new Map<string, string>();
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    const entry = readLine(line);
    if (typeof entry === 'string') problems.push(`line ${index + 1}: ${entry}`);
    else if (entry !== undefined) env.set(...entry);
  }
  if (!Buffer.from(text).equals(content)) problems.push('it is no text in UTF-8');
  if (env.size > MOST) problems.push(`it has more than ${MOST} variables`);
  if (problems.length > 0) throw sandboxErrors.ENV_FILE_INVALID({ file, problems: problems.slice(0, NAMED) });
  return Object.fromEntries(env);
}

/** A name with its value, what is wrong, or nothing. */
function readLine(line: string): [string, string] | string | undefined {
  const text = line.trim();
  if (text === '' || text.startsWith('#')) return undefined;
  if (text.includes('\0')) return 'it has a NUL';
  const [, name, rest = ''] = /^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$/.exec(text) ?? [];
  if (name === undefined) return 'it is not NAME=value';
  const value = readValue(rest);
  return value === undefined ? 'its quotes do not end, or something comes after them' : [name, value];
}

function readValue(text: string): string | undefined {
  const [, single] = /^'([^']*)'\s*(?:#.*)?$/.exec(text) ?? [];
  if (single !== undefined) return single;
  const [, double] = /^"((?:[^"\\]|\\.)*)"\s*(?:#.*)?$/.exec(text) ?? [];
  if (double !== undefined) return double.replaceAll(/\\(.)/g, (all, char: string) => ESCAPES[char] ?? all);
  return /^['"]/.test(text) ? undefined : text.replace(/\s+#.*$/, '').replace(/^#.*$/, '');
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\', $: '$' };
