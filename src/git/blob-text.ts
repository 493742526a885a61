import type { GitCommand } from './git-command.ts';

/** The text of a file in a commit; undefined when there is none, null when it is no file or too long. */
export async function blobText(
  git: GitCommand,
  { commit, file, maxBytes }: { readonly commit: string; readonly file: string; readonly maxBytes: number },
): Promise<string | null | undefined> {
  const name = `${commit}:${file}`;
  const { code, stdout } = await git.result(['cat-file', '-s', name], { answers: [0, 128] });
  if (code !== 0) return undefined;
  if (Number(stdout) > maxBytes) return null;
  const blob = await git.result(['cat-file', 'blob', name], { answers: [0, 128] });
  return blob.code === 0 ? blob.stdout : null;
}
