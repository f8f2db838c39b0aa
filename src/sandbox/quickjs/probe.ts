import { createRequire } from 'node:module';
import { DEFAULT_LIMITS } from '../limits.js';
import { Interpreter } from './interpreter.js';

let version: Promise<string> | undefined;

/** Version of the interpreter and of the package that brings it; throws where it does not load. */
export function probe(): Promise<string> {
  version ??= (async () => {
    const release = (await Interpreter.load('program', DEFAULT_LIMITS.memoryBytes)).version();
    const require = createRequire(import.meta.url);
    const { version: packaged } = require('quickjs-emscripten/package.json') as { version: string };
    return `${release} (quickjs-emscripten ${packaged})`;
  })();
  return version;
}
