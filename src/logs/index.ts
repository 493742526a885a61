export { capAttempts } from './attempt-cap.ts';
export { openLogFile } from './log-file.ts';
export { missingLines } from './missing-lines.ts';
export { followLines, lastLines } from './read-log.ts';
export { createRedactor } from './redact.ts';
export type { Redactor } from './redact.ts';
