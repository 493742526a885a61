export { openEgressDoor } from './door.ts';
