/** The token is here, and in no storage of the browser. */
let token = '';

export function useToken(given: string): void {
  token = given.trim();
}

/** Throws what the server says in place of a success. */
export async function ask<Answer>(method: string, place: string, body?: object): Promise<Answer> {
  const headers: Record<string, string> = {};
  if (token !== '') headers['authorization'] = `Bearer ${token}`;
  if (body !== undefined) headers['content-type'] = 'application/json';
  const response = await fetch(place, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as Answer & { readonly detail?: string };
  if (!response.ok) throw new Error(answer.detail ?? `The answer is ${response.status}.`);
  return answer;
}

/** A page can set no header of a socket: the token goes as a protocol. */
export function openSocket(session: string): WebSocket {
  const url = new URL(`/v1/sessions/${encodeURIComponent(session)}/exec`, location.href);
  url.protocol = url.protocol.replace('http', 'ws');
  return new WebSocket(url, token === '' ? ['mahabharatha'] : ['mahabharatha', `bearer.${encodeURIComponent(token)}`]);
}
