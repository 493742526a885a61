export { DurationError } from './duration-error.js';
export { formatDuration } from './format.js';
export { parseDuration } from './parse.js';
