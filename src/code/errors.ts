import { defineErrors } from '../lib/app-error.ts';
import { inBytes } from '../lib/text/amounts.ts';

const names = (packages: readonly string[]): string => packages.map((name) => `"${name}"`).join(', ');

export const codeErrors = defineErrors({
  CODE_BUSY: {
    kind: 'usage',
    example: { waiting: 16 },
    message: (f) => `${f.waiting} calls of this session wait already, and they run one after the other.`,
    hint: () => 'Wait for one of them, or name another session_id.',
  },
  PACKAGE_NAME_INVALID: {
    kind: 'usage',
    example: { name: '--global', reason: 'it is no name of a package of npm' },
    message: (f) => `"${f.name}" is refused: ${f.reason}. Nothing was installed, and no code was run.`,
    hint: () => 'Name packages as "zod", "@scope/name" or, for install_packages, with a version as in "zod@3".',
  },
  IMPORTS_FAILED: {
    kind: 'work',
    example: { reason: 'ENOSPC: no space left on device' },
    message: (f) => `What the code imports could not be prepared in its session, and the code was not run: ${f.reason}`,
    hint: () => 'Make room in /packages, or begin anew with reset_session.',
  },
  PACKAGES_NOT_INSTALLED: {
    kind: 'work',
    example: { packages: ['no-such-thing'], reason: 'error: GET … - 404' },
    message: (f) =>
      `${names(f.packages)} could not be installed, and the code was not run. The installer says: ${f.reason}`,
    hint: () => 'Check the names; only the registry of the npm configuration of this machine is asked.',
  },
  PACKAGES_UNABLE: {
    kind: 'environment',
    example: { packages: ['zod'] },
    message: (f) =>
      `${names(f.packages)} cannot be installed: the container engine of this server gives no network, and the code was not run.`,
    hint: () => 'Use Docker; docs/engines.md says what an engine may lack.',
  },
  PACKAGES_TOO_LARGE: {
    kind: 'work',
    example: { packages: ['tensorflow'], limit: 1024 ** 3 },
    message: (f) =>
      `${names(f.packages)} with what they need are larger than ${inBytes(f.limit)}, and were not installed.`,
    hint: () => 'Use smaller ones, or raise mcp.packages.disk.',
  },
  PACKAGES_FULL: {
    kind: 'environment',
    example: { folder: '/home/anna/.bun-runner-mcp/packages', bytes: 6 * 1024 ** 3, limit: 5 * 1024 ** 3 },
    message: (f) =>
      `The packages in ${f.folder} hold ${inBytes(f.bytes)}, the limit is ${inBytes(f.limit)}: no more are installed.`,
    hint: (f) => `Remove ${f.folder} while no server runs, or raise mcp.packages.disk.`,
  },
  PACKAGES_FOLDER: {
    kind: 'environment',
    example: { folder: '/home/anna/.bun-runner-mcp/packages', reason: 'no space left on device' },
    message: (f) => `The folder of packages ${f.folder} cannot be used: ${f.reason}.`,
    hint: () => 'Make room there, or name another folder as mcp.packages.folder.',
  },
});
