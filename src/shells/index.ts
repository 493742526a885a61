export { startFresh } from './fresh-container.ts';
export { startProgram } from './program.ts';
export type { Program, ProgramInput } from './program.ts';
