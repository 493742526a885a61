/** Names go into paths as they are meant, whatever signs they have. */
export function containerPath(id: string, rest = ''): string {
  return `/containers/${encodeURIComponent(id)}${rest}`;
}

/** The slashes of an image's name are part of the path. */
export function imagePath(tag: string, rest = ''): string {
  return `/images/${tag.split('/').map(encodeURIComponent).join('/')}${rest}`;
}

export function volumePath(name: string): string {
  return `/volumes/${encodeURIComponent(name)}`;
}
