/** Headers for one connection only (RFC 9110, 7.6.1), and headers that we make anew. */
const NOT_PASSED_ON = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Names in lower case, with all their values. */
export type PassedHeaders = ReadonlyMap<string, readonly string[]>;

/** Pure. The headers that go on, as names with all their values, from a list of name, value, name, value … */
export function headersToPassOn(raw: readonly string[]): PassedHeaders {
  const pairs = raw.flatMap((name, at): [string, string][] => (at % 2 === 0 ? [[name, raw[at + 1] ?? '']] : []));
  const named = pairs.filter(([name]) => name.toLowerCase() === 'connection');
  const dropped = new Set(named.flatMap(([, value]) => value.split(',').map((token) => token.trim().toLowerCase())));
  const kept = new Map<string, string[]>();
  for (const [name, value] of pairs) {
    const key = name.toLowerCase();
    if (NOT_PASSED_ON.has(key) || key.startsWith('proxy-') || dropped.has(key)) continue;
    kept.set(key, [...(kept.get(key) ?? []), value]);
  }
  return kept;
}

/**
 * The header that tells the length of the body, from what the parser has read: a "Connection" header cannot remove it.
 * Undefined when there is no body.
 */
export function framingOf(headers: NodeJS.Dict<string | string[]>): readonly [string, string] | undefined {
  if (headers['transfer-encoding'] !== undefined) return ['Transfer-Encoding', 'chunked'];
  const length = headers['content-length'];
  return typeof length === 'string' ? ['Content-Length', length] : undefined;
}
