/** The languages of a configuration that names none. */
export const DEFAULT_LANGUAGES = {
  python: { image: 'python:3.10-slim', extension: '.py', command: ['python', '-I', '{filepath}'] },
  ruby: { image: 'ruby:3.2-slim', extension: '.rb', command: ['ruby', '{filepath}'] },
};

/** What sessions can always run in. */
export const DEFAULT_RUNTIMES = {
  node: {
    image: 'node:24-slim',
    setup: 'npm install',
    setup_files: ['package.json', 'package-lock.json'],
    default_command: 'npm test',
    needs: 'package.json',
  },
  python: {
    image: 'python:3.12-slim',
    setup: 'pip install -r requirements.txt',
    setup_files: ['requirements.txt'],
    default_command: 'python main.py',
    needs: 'main.py',
  },
  shell: {
    image: 'ubuntu:22.04',
    default_command: 'bash main.sh',
    needs: 'main.sh',
  },
};
