import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser, Page } from 'puppeteer-core';
import { launch } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveForTest } from '../support/served.ts';
import type { Served } from '../support/served.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildSandboxImage, docker, whySkipped } from '../support/worker-image.ts';

const CHROMIUM = process.env['MAHABHARATHA_TEST_CHROMIUM'] ?? '/usr/bin/chromium';
const why = existsSync(CHROMIUM) ? whySkipped : ` (skipped: no ${CHROMIUM}; apt-get install chromium)`;
if (process.env['CI'] === 'true' && !existsSync(CHROMIUM)) throw new Error(`The page cannot be tested: no ${CHROMIUM}`);
/** Where pictures of the page are left for people, when it is named. */
const PICTURES = process.env['MAHABHARATHA_TEST_PICTURES'];
const TOKEN = 'anna-0123456789abcdef';
/** What would do something if it were more than text. */
const HOSTILE = String.raw`printf '<img src=x onerror="document.title=1"><script>document.title=1</script>\n\033]0;stolen\007\033[2J\033[1;1Hforged\n'`;

describe.skipIf(docker.why !== '' || !existsSync(CHROMIUM))(`the page to try a server${why}`, () => {
  let served: Served;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];
  const asked: string[] = [];
  beforeAll(async () => {
    await buildSandboxImage();
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'mahabharatha-tokens-')), 'tokens');
    writeFileSync(file, `anna ${TOKEN}\n`, { mode: 0o600 });
    served = await serveForTest({ args: ['--token-file', file] });
    browser = await launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
    page = await browser.newPage();
    await page.setViewport({ width: 1280, height: 1000 });
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(served.address);
  });
  afterAll(async () => {
    await browser.close();
    expect(await served.end()).toBe(0);
  });

  const picture = async (name: string): Promise<void> => {
    if (PICTURES === undefined) return;
    mkdirSync(PICTURES, { recursive: true });
    await page.screenshot({ path: path.join(PICTURES, `${name}.png`) });
  };
  const textOf = (selector: string): Promise<string> =>
    page.$eval(selector, (element) => (element as unknown as { innerText: string }).innerText);
  const appears = (selector: string, text: string): Promise<void> =>
    waitUntil(`${text} in ${selector}`, async () => (await textOf(selector)).includes(text));
  const write = async (code: string): Promise<void> => {
    await page.click('.cm-content');
    await page.keyboard.down('Control');
    await page.keyboard.press('a');
    await page.keyboard.up('Control');
    await page.keyboard.sendCharacter(code);
  };
  const command = async (text: string): Promise<void> => {
    await page.keyboard.type(text);
    await page.keyboard.press('Enter');
  };

  it('asks for the token, and keeps it in memory alone', async () => {
    await appears('#state', 'The token is missing');
    await picture('1-no-token');
    await page.type('#token', TOKEN);
    await page.keyboard.press('Tab');
    await appears('#state', 'ok: 0 sessions');
    const kept = await page.evaluate('JSON.stringify([localStorage, sessionStorage, document.cookie, location.href])');
    expect(kept).not.toContain(TOKEN);
    expect(asked.join(' ')).not.toContain(TOKEN);
  });

  it('runs a program of the chosen language, with its streams apart, exit status, time and memory', async () => {
    await page.select('#language', 'javascript');
    await appears('.cm-content', 'Hello, world!');
    await write('console.log("out 1"); console.error("err 2"); process.exit(3)');
    await picture('2-editor');
    await page.click('#run');
    await appears('#figures', 'exit 3');
    expect(await textOf('#stdout')).toBe('out 1\n');
    expect(await textOf('#stderr')).toBe('err 2\n');
    expect(await textOf('#figures')).toMatch(/^exit 3 · [\d.]+ ms · [\d.]+ MB$/);
    await picture('3-ran');
  });

  it('shows what a hostile program prints as text', async () => {
    await page.select('#language', 'shell');
    await write(HOSTILE);
    await page.click('#run');
    await appears('#figures', 'exit 0');
    expect(await textOf('#stdout')).toBe(
      '<img src=x onerror="document.title=1"><script>document.title=1</script>\n^[]0;stolen^G^[[2J^[[1;1Hforged\n',
    );
    expect(await page.title()).toBe('Mahabharatha');
    await picture('4-hostile');
  });

  it('runs commands of a session in a terminal, with its working directory, and ends them', async () => {
    await page.click('#open');
    await appears('#session-state', ': open');
    await page.click('#terminal');
    await command('mkdir -p a && cd a && echo héllo; ls /nowhere');
    await appears('#session-state', '/workspace/page/a, exit 2');
    await command('pwd; printf unfinished');
    await appears('#session-state', 'exit 0');
    await appears('#terminal', '/workspace/page/a');
    // Its end is one that none before had: what is typed before it is lost.
    await command(`${HOSTILE}; exit 7`);
    await appears('#terminal', '^[]0;stolen');
    await appears('#session-state', 'exit 7');
    await command('sleep 600');
    await waitUntil('it runs', async () => {
      const { body } = await served.ask('GET', '/v1/sessions', undefined, { authorization: `Bearer ${TOKEN}` });
      return (body['sessions'] as { busy: boolean }[])[0]?.busy === true;
    });
    await page.keyboard.down('Control');
    await page.keyboard.press('c');
    await page.keyboard.up('Control');
    await appears('#session-state', 'exit 143');
    await picture('5-terminal');
    expect(await textOf('#terminal')).toContain('héllo');
    await page.click('#end');
    await appears('#state', 'ok: 0 sessions');
    await picture('6-ended');
  });

  it('loads and asks nothing but the server, and breaks no rule of its own policy', async () => {
    expect(asked.filter((url) => !url.startsWith(served.address))).toEqual([]);
    // The first look had no token, and a browser asks for an icon.
    expect(complaints.filter((text) => !/status of 40[14]/.test(text))).toEqual([]);
    const policy = (await fetch(served.address)).headers.get('content-security-policy');
    expect(policy).toMatch(
      /^default-src 'none'; .*script-src 'sha256-[^']+'; style-src 'nonce-[^']+'; connect-src 'self'$/,
    );
    await page.setViewport({ width: 400, height: 900 });
    await picture('7-narrow');
    await page.goto(`${served.address}/docs`);
    await page.setViewport({ width: 1280, height: 1000 });
    expect(await textOf('h1')).toMatch(/^Mahabharatha/);
    await picture('8-requests');
    expect(complaints.filter((text) => !/status of 40[14]/.test(text))).toEqual([]);
  });
});
