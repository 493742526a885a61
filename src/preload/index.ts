export { openPreload } from './run-code.ts';
