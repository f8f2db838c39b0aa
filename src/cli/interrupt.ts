let hint = '';

/** Sets what a person is told when the program is interrupted: how to continue. */
export function onInterruptSay(text: string): void {
  hint = text;
}

/** The message of an interruption. */
export function interruptMessage(): string {
  return `hone: interrupted${hint === '' ? '' : `; ${hint}`}`;
}
