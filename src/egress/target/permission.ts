import type { EgressRule } from '../../protocol/index.ts';
import type { Target } from './target.ts';

/** What the list says of a target: nothing, another port only, or yes and where the name may lead. */
export type Permission =
  | { readonly allowed: false; readonly otherPorts: readonly number[] }
  | { readonly allowed: true; readonly trustedPrivate: boolean };

/** Pure. */
export function permissionFor(rules: readonly EgressRule[], target: Pick<Target, 'host' | 'port'>): Permission {
  const ofHost = rules.filter((rule) => covers(rule, target.host));
  const fitting = ofHost.filter(({ ports }) => ports.includes(target.port));
  if (fitting.length === 0) return { allowed: false, otherPorts: [...new Set(ofHost.flatMap(({ ports }) => ports))] };
  return { allowed: true, trustedPrivate: fitting.some(({ trustedPrivate }) => trustedPrivate) };
}

function covers(rule: EgressRule, host: string): boolean {
  return rule.covers === 'subdomains' ? host.endsWith(`.${rule.host}`) : host === rule.host;
}
