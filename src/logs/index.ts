export { createLineSplitter, createTail } from './lines.ts';
export { followLines, lastLines } from './read-log.ts';
