import { Writable } from 'node:stream';
import { width } from './format.js';

const SEQUENCE = new RegExp(`^${String.fromCharCode(27)}\\[([?0-9;]*)([A-Za-z])`);

/**
 * A terminal without a scrollback limit that follows the few control sequences that the display uses, for tests.
 * Throws at any other sequence.
 */
export class Terminal extends Writable {
  readonly isTTY = true;
  /** Lines that did not fit and would have wrapped. */
  readonly wrapped: string[] = [];
  /** Whether any style was set. */
  coloured = false;
  #lines: string[] = [''];
  #row = 0;
  #column = 0;

  constructor(
    readonly columns: number,
    readonly rows = 40,
  ) {
    super({ decodeStrings: false });
  }

  /** What is to be seen, the scrollback included; lines without trailing spaces. */
  get text(): string {
    return this.#lines
      .map((line) => line.trimEnd())
      .join('\n')
      .replace(/^\n+$/, '');
  }

  override _write(chunk: string, _encoding: string, done: () => void): void {
    let rest = chunk;
    while (rest !== '') {
      const sequence = SEQUENCE.exec(rest);
      if (sequence) this.#control(sequence[1]!, sequence[2]!);
      else this.#print(rest[0]!);
      rest = rest.slice(sequence ? sequence[0].length : 1);
    }
    done();
  }

  #print(character: string): void {
    if (character < ' ' && character !== '\n') throw new Error(`control character ${JSON.stringify(character)}`);
    if (character === '\n') {
      this.#row++;
      this.#column = 0;
      this.#lines[this.#row] ??= '';
      return;
    }
    const line = this.#lines[this.#row]!.padEnd(this.#column);
    this.#lines[this.#row] = line.slice(0, this.#column) + character + line.slice(this.#column + 1);
    this.#column++;
    if (width(this.#lines[this.#row]!) === this.columns + 1) this.wrapped.push(this.#lines[this.#row]!);
  }

  #control(parameters: string, final: string): void {
    const n = Number(parameters === '' ? 1 : parameters);
    switch (final) {
      case 'A':
        this.#row = Math.max(0, this.#row - n);
        return;
      case 'B':
        this.#row = Math.min(this.#lines.length - 1, this.#row + n);
        return;
      case 'G':
        this.#column = n - 1;
        return;
      case 'K':
        this.#lines[this.#row] = parameters === '2' ? '' : this.#lines[this.#row]!.slice(0, this.#column);
        return;
      case 'J':
        if (parameters !== '' && parameters !== '0') break;
        this.#lines.length = this.#row + 1;
        this.#lines[this.#row] = this.#lines[this.#row]!.slice(0, this.#column);
        return;
      case 'm':
        this.coloured = true;
        return;
      case 'h':
      case 'l':
        // Synchronised output and the cursor's visibility.
        if (parameters === '?2026' || parameters === '?25') return;
    }
    throw new Error(`unexpected control sequence ${parameters}${final}`);
  }
}
