export { watchLease } from './watch-lease.ts';
export { keepLease } from './keep-lease.ts';
