import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A registry with one image of one empty layer. Engines speak plain HTTP to addresses of their own machine. */
export async function startRegistry(repository: string): Promise<{ readonly image: string; close(): Promise<void> }> {
  // An archive without a file: two empty blocks.
  const layer = Buffer.alloc(1024);
  const config = json({
    architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
    os: 'linux',
    config: { Cmd: ['sh'] },
    rootfs: { type: 'layers', diff_ids: [digestOf(layer)] },
  });
  const part = (kind: string, content: Buffer): object => ({
    mediaType: `application/vnd.docker.${kind}`,
    size: content.length,
    digest: digestOf(content),
  });
  const manifest = json({
    schemaVersion: 2,
    mediaType: MANIFEST,
    config: part('container.image.v1+json', config),
    layers: [part('image.rootfs.diff.tar', layer)],
  });
  const known = new Map([config, layer, manifest].map((content) => [digestOf(content), content]));
  const server = createServer(({ url = '' }, response) => {
    const [, name = ''] = /^\/v2\/.+\/(?:blobs|manifests)\/(.+)$/.exec(url) ?? [];
    const content = name === 'latest' ? manifest : known.get(name);
    if (url === '/v2/') response.end('{}');
    else if (content === undefined) response.writeHead(404).end();
    else response.writeHead(200, headersOf(content, content === manifest)).end(content);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    image: `127.0.0.1:${port}/${repository}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

const MANIFEST = 'application/vnd.docker.distribution.manifest.v2+json';
const json = (value: object): Buffer => Buffer.from(JSON.stringify(value));
const digestOf = (content: Buffer): string => `sha256:${createHash('sha256').update(content).digest('hex')}`;

function headersOf(content: Buffer, isManifest: boolean): Record<string, string> {
  return {
    'content-type': isManifest ? MANIFEST : 'application/octet-stream',
    'content-length': String(content.length),
    'docker-content-digest': digestOf(content),
  };
}
