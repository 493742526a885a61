/** A line of a repository's .npmrc that names a registry: its address, or why it is not followed. */
export interface NpmrcEntry {
  readonly line: number;
  /** "registry" or "@scope:registry" */
  readonly key: string;
  readonly address: URL | string;
}

const KEY = /^(?:@[a-z0-9][\w.~-]*:)?registry$/i;

/** Pure. Only registries count: of a key that is there twice npm takes the last. */
export function registriesOfNpmrc(text: string): NpmrcEntry[] {
  const entries = new Map<string, NpmrcEntry>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    // What comes below a heading is no setting of npm.
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
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) return 'it is no address with http or https';
  return withoutSecrets(url);
}

/** Pure. What may be a password or a token in an address goes no further. */
export function withoutSecrets(url: URL): URL {
  const plain = new URL(url);
  [plain.username, plain.password, plain.search, plain.hash] = ['', '', '', ''];
  return plain;
}

/** A value ends where a comment begins, unless it stands in quotes. */
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
