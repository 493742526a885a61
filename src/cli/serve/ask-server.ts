import { z } from 'zod';
import { reasonOf } from '../../lib/index.ts';
import { cliErrors } from '../errors.ts';

const ANSWER_MS = 30_000;

const session = z.object({
  session_id: z.string(),
  project_id: z.string(),
  runtime_type: z.string(),
  busy: z.boolean(),
  created_at: z.string(),
  last_used_at: z.string(),
});
const list = z.object({ sessions: z.array(session) });
const refusal = z.object({ detail: z.string() });

export interface Server {
  readonly url: string;
  readonly token: string | undefined;
}

/** An open session, and the server that has it. */
export type OpenSession = z.infer<typeof session> & { readonly server: string };

/** Throws SERVER_SILENT and SERVER_REFUSED. */
export async function listSessions(server: Server): Promise<readonly OpenSession[]> {
  const { data } = list.safeParse(await ask(server, 'GET', '/v1/sessions'));
  if (data === undefined) throw cliErrors.SERVER_SILENT({ url: server.url, reason: 'what answers is no such server' });
  return data.sessions.map((each) => ({ ...each, server: server.url }));
}

/** Throws SERVER_SILENT and SERVER_REFUSED. */
export async function endSession(server: Server, id: string): Promise<void> {
  await ask(server, 'DELETE', `/v1/sessions/${encodeURIComponent(id)}`);
}

async function ask({ url, token }: Server, method: string, place: string): Promise<unknown> {
  try {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const signal = AbortSignal.timeout(ANSWER_MS);
    const response = await fetch(`${url.replace(/\/+$/, '')}${place}`, { method, headers, signal, redirect: 'error' });
    const body: unknown = await response.json().catch(() => undefined);
    if (response.ok) return body;
    const { status } = response;
    throw cliErrors.SERVER_REFUSED({
      url,
      status,
      detail: refusal.safeParse(body).data?.detail ?? 'no reason is given.',
    });
  } catch (error) {
    if (error instanceof TypeError || error instanceof DOMException)
      throw cliErrors.SERVER_SILENT({ url, reason: reasonOf(error.cause ?? error) }, { cause: error });
    throw error;
  }
}
