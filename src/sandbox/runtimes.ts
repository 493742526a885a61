/** What a session of one type runs in. */
export interface Runtime {
  readonly image: string;
  /** Runs before the default command; null for none. */
  readonly setup: string | null;
  /** Runs when a request names no command. */
  readonly defaultCommand: string;
}

export type Runtimes = Readonly<Record<string, Runtime>>;

export const DEFAULT_RUNTIMES: Runtimes = {
  node: { image: 'node:24-slim', setup: 'npm install', defaultCommand: 'npm test' },
  python: { image: 'python:3.12-slim', setup: 'pip install -r requirements.txt', defaultCommand: 'python main.py' },
  shell: { image: 'ubuntu:22.04', setup: null, defaultCommand: 'bash main.sh' },
};

/** What runs when no command is named. */
export function defaultCommand({ setup, defaultCommand: command }: Runtime): string {
  return setup === null ? command : `${setup} && ${command}`;
}
