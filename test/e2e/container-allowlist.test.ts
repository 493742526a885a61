import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { bridgeAddress } from '../support/bridge.ts';
import { createContainerProject } from '../support/container-project.ts';
import type { ContainerProject } from '../support/container-project.ts';
import { startHttpsOrigin } from '../support/https-origin.ts';
import type { HttpsOrigin } from '../support/https-origin.ts';
import type { TestTask } from '../support/project.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

const TRUST = ['NODE_EXTRA_CA_CERTS', 'GIT_SSL_CAINFO', 'CURL_CA_BUNDLE']
  .map((name) => `export ${name}=/authorities/all.pem`)
  .join('; ');

/** Each ends with what it got from there, or with the beginning of what it said instead. */
const CLIENTS: Readonly<Record<string, (url: string) => string>> = {
  npm: (url) =>
    `mkdir n && cd n && npm install --no-audit --no-fund --fetch-retries 0 --registry ${url}/npm/ tiny && node -p "require('tiny')"`,
  'npm-by-itself': () => `mkdir n && cd n && npm install --no-audit --no-fund tiny && node -p "require('tiny')"`,
  git: (url) => `git clone --quiet ${url}/git/tiny.git g && cat g/README.md`,
  curl: (url) => `curl --silent --show-error --fail --max-time 600 ${url}/page`,
  // Its tunnel leads to what is listed, and in it it asks for another name.
  fronting: (url) =>
    `curl --silent --show-error --insecure --max-time 600 --connect-to ::${new URL(url).host} https://another.test/page`,
  node: (url) => `node -e "fetch('${url}/page').then((r) => r.text()).then((text) => process.stdout.write(text))"`,
};

describe.skipIf(docker.why !== '')(
  `the allowlist of workers' network, with real clients over HTTPS${whySkipped}`,
  () => {
    let project: ContainerProject;
    let folder: string;
    const origins: HttpsOrigin[] = [];
    beforeAll(buildWorkerImage);
    afterEach(async () => {
      expect(project.leftovers()).toEqual([]);
      await project.remove();
      for (const origin of origins) await origin.close();
      await rm(folder, { recursive: true, force: true });
    });

    it("lets npm, git, curl and Node through to what is listed and to the registry of the user's npm, nowhere else", async () => {
      folder = await mkdtemp(path.join(tmpdir(), 'mahabharatha-origin-'));
      const [listed, registry, other] = [await startOrigin(), await startOrigin(), await startOrigin()];
      project = await createContainerProject({
        env: { npm_config_userconfig: path.join(folder, 'npmrc') },
        container: [
          'network: allowlist',
          `allow: [npm, "${new URL(listed.url).host}"]`,
          'mounts: [{ source: ../outside/authorities, target: /authorities, read_only: true }]',
        ].join('\n'),
      });
      await project.allowMounts(project.outside);
      await mkdir(path.join(project.outside, 'authorities'));
      const texts = await Promise.all([listed, registry, other].map(({ authority }) => readFile(authority)));
      await writeFile(path.join(project.outside, 'authorities', 'all.pem'), Buffer.concat(texts));
      await writeFile(path.join(folder, 'npmrc'), `registry=${registry.url}/npm/\n`);
      const clients = ['npm', 'git', 'curl', 'node'];
      await project.graph('login', [
        ...clients.map((name) => task(name, `listed-${name}`, listed.url)),
        task('npm-by-itself', 'registry-npm', ''),
        task('fronting', 'listed-fronting', listed.url),
        ...clients.map((name) => task(name, `other-${name}`, other.url)),
      ]);

      const { exit, stdout, stderr } = await project.cli('kurukshetra', '--workers', '2');

      expect(exit, stderr).toBe(0);
      const said = (id: string): string => project.git('show', `mahabharatha/login/integration:${id}.txt`);
      expect(said('listed-npm')).toMatch(/from npm\n$/);
      expect(said('registry-npm')).toMatch(/from npm\n$/);
      expect(said('listed-git')).toBe('from git\n');
      expect(said('listed-curl')).toBe('page\n');
      expect(said('listed-node')).toBe('page\n');
      expect(said('listed-fronting')).toMatch(/unrecognized name/i);
      const refused = await project.read('.mahabharatha/logs/login/egress.jsonl');
      expect(refused).toMatch(/"reason":"other-server-name".*"detail":"another.test"/);
      for (const name of clients) expect(said(`other-${name}`)).not.toMatch(/from npm|from git|page\n/);
      expect(other.asked).toEqual([]);
      expect(registry.asked).toContain('GET /npm/tiny.tgz');
      expect(listed.asked).toContain('POST /git/tiny.git/git-upload-pack');
      expect(stdout, 'the summary tells what was refused').toContain(new URL(other.url).host);
    });

    async function startOrigin(): Promise<HttpsOrigin> {
      const origin = await startHttpsOrigin(bridgeAddress(), await mkdtemp(path.join(folder, 'origin-')));
      origins.push(origin);
      return origin;
    }
  },
);

function task(name: string, id: string, url: string): TestTask {
  const client = `cd /tmp && rm -rf n g ~/.npm && ${CLIENTS[name]?.(url)}`;
  const run = `${TRUST}; { ${client}; } > /tmp/said 2>&1; tail -c 300 /tmp/said > /workspace/${id}.txt`;
  return { id, create: [`${id}.txt`], run };
}
