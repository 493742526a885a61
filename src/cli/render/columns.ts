const USUAL = 80;

/** Terminals that nobody looks at, of some CI, say that they are 0 columns wide. */
export function columnsOf(stream: { readonly columns?: number }): number {
  return stream.columns || USUAL;
}
