import { EGRESS_ORDERS, EGRESS_SOCKET, INSIDE } from '../../protocol/index.ts';
import type { EgressOrders, EgressRule } from '../../protocol/index.ts';

/** How a container becomes the egress proxy: for the container that has the volume and the bridge network. */
export interface ProxyProgram {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Pure. */
export function proxyProgram(
  rules: readonly EgressRule[],
  leaseMs: number,
  { access }: { readonly access: boolean },
): ProxyProgram {
  const orders: EgressOrders = { version: 1, leaseMs, rules: [...rules], access };
  return {
    command: [
      '/opt/mahabharatha/node',
      '/opt/mahabharatha/egress.mjs',
      '--socket',
      EGRESS_SOCKET,
      '--shared',
      INSIDE.shared,
    ],
    env: {
      [EGRESS_ORDERS]: JSON.stringify(orders),
      // A name server that is slow for one must not hold up the others.
      UV_THREADPOOL_SIZE: '16',
      // The worker image's, with those that this machine trusts in addition.
      ...(access ? { NODE_EXTRA_CA_CERTS: '/etc/ssl/certs/ca-certificates.crt' } : {}),
    },
  };
}
