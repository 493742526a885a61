export { createLineSplitter, createTail, cutLine } from './lines.ts';
export { followLines, lastLines } from './read-log.ts';
