/** What the program in the child process reads from its stdin. */
export interface ChildRequest {
  readonly code: string;
  readonly language: 'typescript' | 'javascript';
  /** The environment that the code sees. */
  readonly env: Readonly<Record<string, string>>;
  /** After so long it ends by itself, should nobody end it. */
  readonly timeoutMs: number;
}
