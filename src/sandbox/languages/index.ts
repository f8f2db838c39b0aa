import type { LanguageSupport } from '../sandbox.js';
import { javascript } from './javascript.js';

/** The languages that this version can run. */
export const languages: readonly LanguageSupport[] = [javascript];
