import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createDockerEngine } from '../../src/engines/index.ts';
import type { Engine } from '../../src/engines/index.ts';
import { certify } from '../support/certificate.ts';
import type { Certificate } from '../support/certificate.ts';
import { tempFolder } from '../support/temp-folder.ts';

const HOST = '127.0.0.1';
const REFUSAL = JSON.stringify({ message: 'no such thing' });

/** Refuses every request as an engine does, except the upgrade of an attachment. */
async function startEngine(ours: Certificate, asksForOurs: boolean): Promise<number> {
  const options = { key: ours.key, cert: ours.certificate, ca: ours.certificate, requestCert: asksForOurs };
  const server = createServer(options, (_, response) => void response.writeHead(500).end(REFUSAL));
  server.on('upgrade', (_, socket) => {
    socket.write('HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n');
    socket.end(Buffer.from([1, 0, 0, 0, 0, 0, 0, 2, 104, 105]));
  });
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

const engineAt = (port: number, tls: { ca?: string; cert?: string; key?: string }): Engine =>
  createDockerEngine({ kind: 'tcp', host: HOST, port, tls: { verify: true, ...tls } });

it('an engine behind TLS answers when its certificate is trusted, and attaches to its containers', async () => {
  const own = certify(HOST, tempFolder());
  const port = await startEngine(own, true);
  const engine = engineAt(port, { ca: own.certificate, cert: own.certificate, key: own.key });
  await expect(engine.info()).rejects.toMatchObject({ message: expect.stringContaining('no such thing') });
  const { stdout, stderr } = await engine.attach('x');
  stderr.resume();
  let text = '';
  for await (const chunk of stdout) text += String(chunk);
  expect(text).toBe('hi');
});

it.each([
  ['whose certificate no known authority has signed', {}, 'no known authority'],
  ['that wants a client certificate, when there is none', { ca: 'own' }, 'client certificate'],
])('an engine behind TLS %s cannot be reached, and the message says why', async (_, wishes, words) => {
  const own = certify(HOST, tempFolder());
  const port = await startEngine(own, true);
  const engine = engineAt(port, 'ca' in wishes ? { ca: own.certificate } : {});
  await expect(engine.info()).rejects.toMatchObject({
    code: 'ENGINE_UNREACHABLE',
    message: expect.stringContaining(words),
  });
});
