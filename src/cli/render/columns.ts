const USUAL = 80;

/** Terminals of some CI say that they are 0 columns wide. */
export function columnsOf(stream: { readonly columns?: number }): number {
  return stream.columns || USUAL;
}
