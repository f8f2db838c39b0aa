import { HoneError } from '../../core/error.js';
import { javascript } from './javascript.js';
import type { TaskLanguage } from './language.js';
import { python } from './python.js';

/** Languages that generated tasks render in; a new one is one file and one name here. */
export const taskLanguages: Readonly<Record<string, TaskLanguage>> = { javascript, python };

/** Errors: `unknown_language`. */
export function taskLanguage(id: string): TaskLanguage {
  const language = Object.hasOwn(taskLanguages, id) ? taskLanguages[id] : undefined;
  if (language === undefined) {
    throw new HoneError(
      'unknown_language',
      `tasks cannot be generated in "${id}"`,
      `Choose one of: ${Object.keys(taskLanguages).join(', ')}.`,
    );
  }
  return language;
}
