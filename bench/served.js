import { execFileSync, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { CLI } from './program.js';

export const BASE = 'mahabharatha-base:bookworm';
/** A language with an image that docker/air-gapped/build-runtimes.sh makes, and a program that does next to nothing. */
export const LANGUAGES = {
  shell: { image: BASE, extension: '.sh', command: ['bash', '{filepath}'], code: 'echo hello' },
  python: {
    image: 'mahabharatha-python:bookworm',
    extension: '.py',
    command: ['python3', '{filepath}'],
    code: 'print("hello")',
  },
  ruby: {
    image: 'mahabharatha-ruby:bookworm',
    extension: '.rb',
    command: ['ruby', '{filepath}'],
    code: 'puts "hello"',
  },
};

export function hasImage(image) {
  try {
    execFileSync('docker', ['image', 'inspect', image], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** A server with these languages, on a free port, with a state folder of its own. */
export async function startServer(folder, languages) {
  const config = {
    serve: {
      port: 0,
      limits: { user_requests: 1_000_000, project_requests: 1_000_000 },
      log_level: 'error',
      runtimes: { shell: { image: BASE, default_command: 'true' } },
      languages: Object.fromEntries(languages.map((name) => [name, withoutCode(LANGUAGES[name])])),
    },
  };
  const file = path.join(folder, 'config.yaml');
  writeFileSync(file, JSON.stringify(config));
  const child = spawn(process.execPath, [CLI, 'serve', '--config', file, '--json'], {
    cwd: folder,
    env: { ...process.env, XDG_STATE_HOME: folder },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const address = await addressOf(child, ended);
  const post = async (place, body, accept = 'application/json') => {
    const headers = { 'content-type': 'application/json', accept };
    return fetch(`${address}${place}`, { method: 'POST', headers, body: JSON.stringify(body) });
  };
  const agent = new http.Agent({ keepAlive: true });
  return {
    address,
    post,
    ask: (place, body) => ask({ agent, url: `${address}${place}` }, JSON.stringify(body)),
    memory: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))[1]) / 1024,
    end: async () => {
      agent.destroy();
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** What is measured is the server: this takes half of the time that `fetch` takes for itself. */
function ask({ agent, url }, body) {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const request = http.request(url, { agent, method: 'POST', headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => (text += chunk));
      response.once('end', () => resolve({ status: response.statusCode, text }));
    });
    request.once('error', reject).end(body);
  });
}

const withoutCode = ({ code: _code, ...language }) => language;

function addressOf(child, ended) {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
      const found = /"type":"serving","address":"([^"]+)"/.exec(text)?.[1];
      if (found !== undefined) resolve(found);
    });
    void ended.then((code) => reject(new Error(`serve ended with ${code}: ${text.slice(-500)}`)));
  });
}
