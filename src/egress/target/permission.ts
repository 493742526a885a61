import type { EgressRule } from '../../protocol/index.ts';
import type { Target } from './target.ts';

/** What the list says of a target. */
export interface Permission {
  readonly allowed: boolean;
  /** The name may lead into a private network. */
  readonly trustedPrivate: boolean;
  /** The entries that name the host, with any port. */
  readonly rules: readonly EgressRule[];
}

/** Pure. */
export function permissionFor(rules: readonly EgressRule[], target: Pick<Target, 'host' | 'port'>): Permission {
  const ofHost = rules.filter((rule) => covers(rule, target.host));
  const fitting = ofHost.filter(({ ports }) => ports.includes(target.port));
  const trustedPrivate = fitting.some(({ trustedPrivate }) => trustedPrivate);
  return { allowed: fitting.length > 0, trustedPrivate, rules: ofHost };
}

function covers(rule: EgressRule, host: string): boolean {
  return rule.covers === 'subdomains' ? host.endsWith(`.${rule.host}`) : host === rule.host;
}
