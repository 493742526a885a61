import { EGRESS_ORDERS, EGRESS_SOCKET, INSIDE } from '../../protocol/index.ts';
import type { EgressOrders, EgressRule } from '../../protocol/index.ts';

/** How a container becomes the egress proxy: for the container that has the volume and the bridge network. */
export interface ProxyProgram {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Pure. */
export function proxyProgram(rules: readonly EgressRule[], leaseMs: number): ProxyProgram {
  const orders: EgressOrders = { version: 1, leaseMs, rules: [...rules] };
  return {
    command: [
      '/opt/mahabharatha/node',
      '/opt/mahabharatha/egress.mjs',
      '--socket',
      EGRESS_SOCKET,
      '--shared',
      INSIDE.shared,
    ],
    // A name server that is slow for one must not hold up the others.
    env: { [EGRESS_ORDERS]: JSON.stringify(orders), UV_THREADPOOL_SIZE: '16' },
  };
}
