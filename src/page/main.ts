import { ask, useToken } from './ask.ts';
import { createEditor } from './editor.ts';
import { openTerminal } from './terminal.ts';
import type { SessionTerminal } from './terminal.ts';
import { visible } from './visible.ts';

const LOOK_MS = 5000;

/** An element of the page, which has it. */
function element<Kind extends HTMLElement = HTMLElement>(id: string, kind?: new () => Kind): Kind {
  const found = document.querySelector(`#${id}`);
  if (!(found instanceof (kind ?? HTMLElement))) throw new Error(`there is no ${id}`);
  return found as Kind;
}

interface Health {
  readonly status: string;
  readonly containers: Readonly<Record<string, string>>;
  readonly sessions: number;
  readonly uptime_seconds: number;
}

interface Ran {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit_code: number;
  readonly execution_time_ms: number;
  readonly memory_used_mb: number;
}

const nonce = document.querySelector('style')?.nonce ?? '';
allowOwnStyles(nonce);

const language = element('language', HTMLSelectElement);
const editor = createEditor(element('editor'), nonce, () => void run());

/** The terminal writes its own style elements, which the page's policy lets through with its nonce alone. */
function allowOwnStyles(nonce: string): void {
  const create = document.createElement.bind(document);
  document.createElement = (name: string, options?: ElementCreationOptions) => {
    const made = create(name, options);
    if (name === 'style') made.nonce = nonce;
    return made;
  };
}

async function look(): Promise<void> {
  const state = element('state');
  try {
    const { status, containers, sessions, uptime_seconds: seconds } = await ask<Health>('GET', '/health');
    state.dataset['status'] = status;
    const off = Object.keys(containers).filter((name) => containers[name] !== 'running');
    const stopped = off.length === 0 ? '' : `, not running: ${off.join(', ')}`;
    state.textContent = `${status}: ${sessions} session${sessions === 1 ? '' : 's'}, up ${Math.round(seconds / 60)} min${stopped}`;
    offer(Object.keys(containers));
  } catch (error) {
    state.dataset['status'] = 'away';
    state.textContent = reasonOf(error);
  }
}

function offer(names: readonly string[]): void {
  if ([...language.options].map(({ value }) => value).join(' ') === names.join(' ')) return;
  language.replaceChildren(...names.map((name) => new Option(name, name)));
  editor.use(language.value);
}

async function run(): Promise<void> {
  const button = element('run', HTMLButtonElement);
  if (button.disabled || language.value === '') return;
  button.disabled = true;
  element('figures').textContent = 'running …';
  try {
    const place = `/execute/${encodeURIComponent(language.value)}`;
    const ran = await ask<Ran>('POST', place, { code: editor.code() });
    element('stdout').textContent = visible(ran.stdout);
    element('stderr').textContent = visible(ran.stderr);
    element('figures').textContent = `exit ${ran.exit_code} · ${ran.execution_time_ms} ms · ${ran.memory_used_mb} MB`;
    element('figures').dataset['ok'] = String(ran.exit_code === 0);
  } catch (error) {
    element('figures').textContent = reasonOf(error);
    element('figures').dataset['ok'] = 'false';
  } finally {
    button.disabled = false;
  }
}

let open: { readonly id: string; readonly terminal: SessionTerminal } | undefined;

async function openSession(): Promise<void> {
  const state = element('session-state');
  const button = element('open', HTMLButtonElement);
  button.disabled = true;
  state.textContent = 'starting …';
  try {
    await endSession();
    const wish = { project_id: 'page', runtime_type: element('runtime', HTMLInputElement).value };
    const { session_id: id } = await ask<{ session_id: string }>('POST', '/v1/sessions', wish);
    const terminal = openTerminal(element('terminal'), id, (text) => (state.textContent = `${id}: ${text}`));
    open = { id, terminal };
  } catch (error) {
    state.textContent = reasonOf(error);
  }
  button.disabled = false;
  await look();
}

async function endSession(): Promise<void> {
  if (open === undefined) return;
  const { id, terminal } = open;
  open = undefined;
  terminal.close();
  element('session-state').textContent = '';
  await ask('DELETE', `/v1/sessions/${id}`).catch(() => undefined);
  await look();
}

const reasonOf = (error: unknown): string => visible(error instanceof Error ? error.message : String(error));

language.addEventListener('change', () => editor.use(language.value));
element('run').addEventListener('click', () => void run());
element('open').addEventListener('click', () => void openSession());
element('end').addEventListener('click', () => void endSession());
const useGiven = (): void => {
  useToken(element('token', HTMLInputElement).value);
  void look();
};
element('token').addEventListener('change', useGiven);
element('who').addEventListener('submit', (event) => {
  event.preventDefault();
  useGiven();
});
setInterval(() => void look(), LOOK_MS);
void look();
