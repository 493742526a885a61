export { formatDuration } from './format.js';
