import { StringDecoder } from 'node:string_decoder';
import type { z } from 'zod';
import { sandboxErrors } from '../sandbox/index.ts';
import type { ChangedFile, Sessions } from '../sandbox/index.ts';
import * as bodies from './bodies.ts';
import { httpErrors } from './errors.ts';
import { route, STREAMED } from './route.ts';
import type { Call, Route } from './route.ts';

/** Of one upload; more files come in several. */
const UPLOAD_BYTES = 32 * 1024 * 1024;
const FILE_BYTES = 16 * 1024 * 1024;
/** Of the files that an upload could not change: so many are in its message. */
const TOLD = 3;
const REFUSALS = {
  400: 'PATH_REFUSED, UPLOAD_INCOMPLETE',
  404: 'SESSION_UNKNOWN, FILE_MISSING',
  410: 'SESSION_ENDED',
} as const;

/** The files of a session's workspace. */
export function fileRoutes(sessions: Sessions): readonly Route[] {
  return [
    route({
      method: 'POST',
      path: '/v1/sessions/:id/upload',
      summary: 'Write files into the workspace, and remove some',
      body: bodies.upload,
      bodyBytes: UPLOAD_BYTES,
      answer: bodies.uploaded,
      refusals: { ...REFUSALS, 409: 'CACHE_TOO_LARGE' },
      handle: ({ params, body, reply }) => upload(sessions, params['id'] ?? '', body, reply),
    }),
    route({
      method: 'GET',
      path: '/v1/sessions/:id/fs',
      summary: 'Read a file of the workspace',
      query: bodies.fileQuery,
      answer: bodies.fileContent,
      refusals: REFUSALS,
      handle: async ({ params, query: { path, from = 0, encoding = 'utf8' }, take }) => {
        const part = await sessions.files(params['id'] ?? '', (files) => files.read(path, from, FILE_BYTES, take));
        return contentOf(part, from, encoding);
      },
    }),
    route({
      method: 'GET',
      path: '/v1/sessions/:id/files',
      summary: 'What is in the workspace, with hashes',
      query: bodies.listQuery,
      answer: bodies.fileList,
      refusals: { ...REFUSALS, 422: 'TREE_TOO_LARGE' },
      handle: async ({ params, query, take }) => {
        const entries = await sessions.files(params['id'] ?? '', (files) => files.list(query.path, take));
        return { files: entries.map((entry) => ({ ...entry, mode: entry.mode.toString(8) })) };
      },
    }),
  ];
}

function contentOf(
  { content: bytes, size }: { readonly content: Buffer; readonly size: number },
  from: number,
  encoding: 'utf8' | 'base64',
): z.infer<typeof bodies.fileContent> {
  const truncated = from + bytes.length < size;
  // A character that is cut at the end is left out: the next part begins with it.
  const content = encoding === 'utf8' && truncated ? new StringDecoder('utf8').write(bytes) : bytes.toString(encoding);
  return { content, size, encoding, truncated };
}

async function upload(
  sessions: Sessions,
  id: string,
  { files, delete: removed = [] }: z.infer<typeof bodies.upload>,
  reply: Call['reply'],
): Promise<z.infer<typeof bodies.uploaded> | typeof STREAMED> {
  const changes = { files: files.map(changeOf), removed };
  const { written, deleted, needed, failed } = await sessions.files(id, (workspace) => workspace.upload(changes));
  if (failed.length === 0)
    return {
      synced: written.length,
      deleted: deleted.length,
      needed: [...needed],
      workspace_lost: sessions.tellNew(id),
    };
  const problems = failed.slice(0, TOLD).map(({ path, reason }) => `${path}: ${reason}`);
  const { message, code, hint } = httpErrors.UPLOAD_INCOMPLETE({ problems, written: written.length });
  void reply.status(400).send({ detail: message, code, hint, written, deleted, failed });
  return STREAMED;
}

type UploadFile = z.infer<typeof bodies.upload>['files'][number];

/** Throws PATH_REFUSED and BODY_INVALID. */
function changeOf({ path, content, encoding = 'utf8', sha256, executable = false }: UploadFile): ChangedFile {
  if (content === undefined && sha256 === undefined)
    throw httpErrors.BODY_INVALID({ where: 'body', problems: [`files: ${path} has neither content nor sha256`] });
  const refuse = (reason: string): Error => sandboxErrors.PATH_REFUSED({ path, reason });
  if (encoding === 'base64' && !isBase64(content ?? '')) throw refuse('its content is no base64');
  // It would be written as something else.
  if (/\p{Surrogate}/u.test(content ?? '')) throw refuse('its content is no valid text: send it as base64');
  return { path, content: content === undefined ? null : Buffer.from(content, encoding), sha256, executable };
}

/** Node would leave out what is too much or too little at the end. */
function isBase64(text: string): boolean {
  const found = /^[A-Za-z0-9+/]*(={0,2})$/.exec(text);
  if (found === null) return false;
  const [, end = ''] = found;
  return (text.length - end.length) % 4 !== 1 && (end === '' || text.length % 4 === 0);
}
