export { isAloneAsRoot } from './alone.ts';
export type { Exceeded } from './exceeded.ts';
export { supervise } from './supervise.ts';
export type { Supervised } from './supervise.ts';
export { readOomKills } from './memory.ts';
