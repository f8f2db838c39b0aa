import type { z } from 'zod';
import { HoneError } from '../core/error.js';

/** Checks the settings of `hone COMMAND` before anything starts. Errors: `bad_setting` naming the field. */
export function checkSettings<T>(schema: z.ZodType<T>, settings: unknown, command: string): T {
  const parsed = schema.safeParse(settings);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new HoneError(
    'bad_setting',
    `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'invalid'}`,
    `See \`hone ${command} --help\`.`,
    2,
  );
}
