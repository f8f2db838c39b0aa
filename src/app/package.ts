import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the installed package: the nearest one above this file whose package.json is Hone's. */
export const PACKAGE_ROOT: string = (() => {
  for (let directory = dirname(fileURLToPath(import.meta.url)); ; directory = dirname(directory)) {
    if (existsSync(join(directory, 'package.json'))) return directory;
    if (directory === dirname(directory)) throw new Error('package.json not found above the program');
  }
})();

export const VERSION: string = (
  JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8')) as { version: string }
).version;

/** The shipped base policy. */
export const BASE_MODEL: string = join(PACKAGE_ROOT, 'models', 'base');
