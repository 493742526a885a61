export { watchLease } from './watch-lease.ts';
export type { LeaseWatch } from './watch-lease.ts';
