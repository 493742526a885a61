export { readProjectRegistries } from './project-registries.ts';
export { askUserRegistries } from './user-registries.ts';
