import type { EgressRule } from '../../protocol/index.ts';
import { kindOf, permissionFor, readHost } from '../target/index.ts';
import { WORKERS } from './audience.ts';
import { AGENT_PRESET, NPM_PRESET, PRESET_NAMES, PRESETS } from './presets.ts';

/** For a name without a port. */
const WEB_PORTS = [443, 80];

export interface Allowlist {
  readonly rules: readonly EgressRule[];
  /** The hosts of npm are wanted: they are read from the user's configuration. */
  readonly npm: boolean;
  /** The hosts of agents are wanted: who asks for agents knows them. */
  readonly agent: boolean;
  /** One text for each entry that cannot be read. */
  readonly problems: readonly string[];
  /** One text for each entry that no container can reach. */
  readonly warnings: readonly string[];
}

/** Pure. What the user wrote, as rules. */
export function parseAllowlist(entries: readonly string[], { setting } = WORKERS): Allowlist {
  const wanted = entries.map((entry) => entry.trim());
  const texts = wanted.flatMap(
    (entry) => PRESETS.get(entry) ?? ([NPM_PRESET, AGENT_PRESET].includes(entry) ? [] : [entry]),
  );
  const read = texts.map((text) => ({ text, rule: readEntry(text) }));
  const rules = read.flatMap(({ rule }) => (typeof rule === 'string' ? [] : [rule]));
  return {
    rules,
    npm: wanted.includes(NPM_PRESET),
    agent: wanted.includes(AGENT_PRESET),
    problems: read.flatMap(({ text, rule }) => (typeof rule === 'string' ? [`"${text}": ${rule}`] : [])),
    warnings: rules
      .filter(isOwnLoopback)
      .map(({ host }) => loopbackWarning(setting === null ? `"${host}"` : `"${host}" in ${setting}`)),
  };
}

/** Either a misspelt preset or a host of the user's own network. With a dot or a port it can only be a host. */
const SINGLE_WORD = /^[\p{L}\p{M}\p{N}_-]+$/u;

/** Pure. Loopback inside a container is the container's own. */
export function isOwnLoopback({ host }: Pick<EgressRule, 'host'>): boolean {
  if (host === 'localhost' || host.endsWith('.localhost')) return true;
  const address = readHost(host.includes(':') ? `[${host}]` : host);
  return address?.isAddress === true && ['loopback', 'unspecified'].includes(kindOf(address.host));
}

export function loopbackWarning(what: string): string {
  return (
    `${what} is this machine's own loopback, which no container can reach. Let the service listen on an address of ` +
    'this machine that containers reach (on Linux that of docker0, often 172.17.0.1), and name that address with its port.'
  );
}

const PRESETS_TEXT = PRESET_NAMES.join(', ');
const NOT_AN_ENTRY = `not a preset (${PRESETS_TEXT}), a name ("example.org", "*.example.org", "example.org:8443") or an address with its port ("192.168.1.5:8080", "[fd12::5]:8080")`;

/** A rule, or what is wrong with the entry. */
function readEntry(text: string): EgressRule | string {
  const [, star, hostText = '', portText] = /^(\*\.)?(\[[^\]]*\]|[^:[\]]*)(?::([^:/]*))?$/.exec(text) ?? [];
  const host = readHost(hostText.startsWith('[') ? hostText : inAscii(hostText));
  if (SINGLE_WORD.test(text)) return `not a preset (${PRESETS_TEXT}); a host is allowed with its port: "${text}:443"`;
  if (host === undefined) return whyNoEntry(text);
  const port = portText === undefined ? undefined : readPort(portText);
  if (port === 'none') return 'the port must be a number from 1 to 65535';
  if (host.isAddress && star !== undefined) return 'an address has no names below it';
  if (host.isAddress && port === undefined) return `an address needs its port: "${hostText}:8080"`;
  return {
    host: host.host,
    covers: star === undefined ? 'host' : 'subdomains',
    ports: port === undefined ? WEB_PORTS : [port],
    trustedPrivate: false,
  };
}

function whyNoEntry(text: string): string {
  if (text === '') return 'empty, and so it allows nothing: name a preset or a host, or leave it out';
  if (text === '*') return 'everything is allowed by "network: open"';
  if (text.includes('://')) return 'only the host is wanted, without "://" and a path';
  if (/^[\d.:a-f]+\/\d+$/i.test(text)) return 'ranges cannot be allowed: name each address with its port';
  if (readHost(`[${text}]`) !== undefined) return `an address needs its port: "[${text}]:8080"`;
  return NOT_AN_ENTRY;
}

function readPort(text: string): number | 'none' {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : 'none';
}

/** Names of other scripts may be listed as people write them. */
function inAscii(name: string): string {
  if (!/^[\p{L}\p{M}\p{N}._-]+$/u.test(name) || !URL.canParse(`http://${name}/`)) return name;
  return new URL(`http://${name}/`).hostname;
}

/** Pure. Would the list let this through? Where the name leads is another question. */
export function isAllowed(rules: readonly EgressRule[], host: string, port: number): boolean {
  const known = readHost(host.includes(':') && !host.startsWith('[') ? `[${host}]` : host);
  return known !== undefined && permissionFor(rules, { host: known.host, port }).allowed;
}
