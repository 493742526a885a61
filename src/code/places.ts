const FOLDER = '/usr/local/lib/bun-runner';

/** Programs of the image with Bun. */
export const TOOLS = {
  scanImports: `${FOLDER}/scan-imports.js`,
  linkPackages: `${FOLDER}/link-packages.js`,
  listVersions: `${FOLDER}/list-versions.js`,
  wait: `${FOLDER}/wait.js`,
} as const;

/** A session's own; its node_modules is also that of the root, where Bun finds what code imports. */
export const PACKAGES = '/packages';
/** All sets of packages, read-only. */
export const STORE = '/store';

export const BUN = '/usr/local/bin/bun';

/** Of a program that may come, so that Bun has started when it does. */
export const WAIT_FIRST = ['--preload', TOOLS.wait] as const;
