export { createFolderMail } from './folder-mail.ts';
export type { Mail } from './mail.ts';
