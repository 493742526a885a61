/** A text that is no duration. */
export class DurationError extends Error {
  constructor(text, reason) {
    super(`"${text}" is no duration: ${reason}`);
    this.name = 'DurationError';
    this.text = text;
  }
}
