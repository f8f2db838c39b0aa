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

const MANIFEST = JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8')) as {
  readonly version: string;
  readonly dependencies: { readonly [name: string]: string };
};

export const VERSION: string = MANIFEST.version;

/** Exact versions of packages as package.json pins them. */
export function dependencyVersions(...names: readonly string[]): { [name: string]: string } {
  return Object.fromEntries(names.map((name) => [name, MANIFEST.dependencies[name] ?? 'unknown']));
}

/** The shipped base policy. */
export const BASE_MODEL: string = join(PACKAGE_ROOT, 'models', 'base');
