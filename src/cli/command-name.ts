import { basename, relative } from 'node:path';

/** How this program was called and can be called again: `hone` where installed, `node PATH` from a clone. */
export function commandName(script = process.argv[1] ?? '', environment: NodeJS.ProcessEnv = process.env): string {
  if (environment.HONE_COMMAND) return environment.HONE_COMMAND;
  return basename(script) === 'main.js' ? `node ${relative(process.cwd(), script)}` : 'hone';
}
