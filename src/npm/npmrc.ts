/** A line of a repository's .npmrc that names a registry. */
export interface NpmrcEntry {
  readonly line: number;
  /** "registry" or "@scope:registry" */
  readonly key: string;
  /** A text says why the address is ignored. */
  readonly address: URL | string;
}

const KEY = /^(?:@[a-z0-9][\w.~-]*:)?registry$/i;

/** Pure. Of a key that is there twice, the last line counts, as in npm. */
export function registriesOfNpmrc(text: string): NpmrcEntry[] {
  const entries = new Map<string, NpmrcEntry>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    // npm reads no settings below a heading.
    if (line.trimStart().startsWith('[')) break;
    const [, name = '', value = ''] = /^([^=;#][^=]*)=(.*)$/.exec(line.trim()) ?? [];
    const key = unquoted(name.trim());
    if (KEY.test(key)) entries.set(key, { line: index + 1, key, address: addressOf(plainValue(value)) });
  }
  return [...entries.values()];
}

function addressOf(value: string): URL | string {
  if (value.includes('${'))
    return 'it names a variable of your environment (${…}), which only your own npm configuration may do';
  const url = webAddress(value);
  return url === undefined ? 'it is no address with http or https' : withoutSecrets(url);
}

/** Pure. */
export function webAddress(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && ['http:', 'https:'].includes(url.protocol) ? url : undefined;
}

/** Pure. An address without what may be a password or a token. */
export function withoutSecrets(url: URL): URL {
  const plain = new URL(url);
  [plain.username, plain.password, plain.search, plain.hash] = ['', '', '', ''];
  return plain;
}

/** A value without quotes ends where a comment begins. */
function plainValue(text: string): string {
  const value = text.trim();
  return /^["']/.test(value) ? unquoted(value) : value.replace(/[;#].*$/, '').trim();
}

/** Pure. */
export function unquoted(text: string): string {
  const [, inside] = /^'(.*)'$/.exec(text) ?? [];
  try {
    return text.startsWith('"') || inside !== undefined ? String(JSON.parse(inside ?? text)) : text;
  } catch {
    return inside ?? text;
  }
}
