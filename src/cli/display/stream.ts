/** Where a display writes: `process.stdout`, or any writable stream. */
export type DisplayStream = NodeJS.WritableStream & {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
};

/** Whether what is written can be redrawn in place. */
export function canRedraw(stream: DisplayStream, environment: NodeJS.ProcessEnv = process.env): boolean {
  return stream.isTTY === true && environment.TERM !== 'dumb';
}

/** Text styles by SGR code; plain text where NO_COLOR is set (no-color.org) or the stream is no terminal. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  yellow(text: string): string;
}

/** The styles of a stream. Style whole lines last: widths are counted on plain text. */
export function createStyle(stream: DisplayStream, environment: NodeJS.ProcessEnv = process.env): Style {
  const coloured = canRedraw(stream, environment) && (environment.NO_COLOR ?? '') === '';
  const sgr =
    (on: number, off: number) =>
    (text: string): string =>
      coloured && text !== '' ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  return { bold: sgr(1, 22), dim: sgr(2, 22), yellow: sgr(33, 39) };
}
