/**
 * A failure that a person can act on: what is wrong, where, and what to do.
 * Everything else that escapes is a bug and is shown with its stack.
 */
export class HoneError extends Error {
  override readonly name = 'HoneError';
  constructor(
    /** Stable, machine-readable, e.g. `checkpoint_truncated`. */
    readonly code: string,
    /** What is wrong, with file, line or field. */
    message: string,
    /** What to do about it; one sentence. */
    readonly hint: string = '',
    readonly exitCode: number = 1,
  ) {
    super(message);
  }
}
