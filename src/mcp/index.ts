export { serveMcp } from './open-mcp.ts';
