import { createRequire } from 'node:module';
import { Engine } from './engine.js';

let version: Promise<string> | undefined;

/** Version of the interpreter and of the package that brings it; throws where it does not load. */
export function probe(): Promise<string> {
  version ??= (async () => {
    const engine = await Engine.load();
    const runtime = engine.module.newRuntime();
    const release = /\d{4}-\d\d-\d\d/.exec(runtime.dumpMemoryUsage())?.[0] ?? 'unknown';
    runtime.dispose();
    const require = createRequire(import.meta.url);
    const { version: packaged } = require('quickjs-emscripten/package.json') as { version: string };
    return `quickjs ${release} (quickjs-emscripten ${packaged})`;
  })();
  return version;
}
