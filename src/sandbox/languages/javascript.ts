import { openQuickJS } from '../quickjs/pool.js';
import { probe } from '../quickjs/probe.js';
import type { LanguageSupport } from '../sandbox.js';

/** JavaScript in QuickJS compiled to WebAssembly, in worker threads. */
export const javascript: LanguageSupport = {
  id: 'javascript',
  extension: '.js',
  backend: 'quickjs',
  async detect() {
    try {
      return {
        language: 'javascript',
        available: true,
        version: await probe(),
        how: 'QuickJS in WebAssembly, in worker threads of this process',
      };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return {
        language: 'javascript',
        available: false,
        version: '',
        how: `package quickjs-emscripten does not load (${reason}); reinstall the dependencies`,
      };
    }
  },
  open: openQuickJS,
};
