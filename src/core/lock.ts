import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { HoneError } from './error.js';
import { withPath } from './io.js';

/** When a process started, in clock ticks since boot; empty where the system does not tell. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold anything; the start is field 22, the 20th after the name.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Whether a lock names a process that still lives, and not another that got its number since. */
function isHeld(file: string): { held: boolean; pid: number } {
  let text = '';
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return { held: false, pid: 0 };
  }
  const [pid = 0, start = ''] = text.split(' ').map((part, i) => (i === 0 ? Number(part) : part)) as [number, string?];
  const now = startOf(pid);
  return { held: isAlive(pid) && (start === '' || now === '' || start === now), pid };
}

/**
 * Claims a folder for this process until `release`, through the file `run.lock` in it.
 * Errors: `run_busy` while another living process holds it; a lock left behind by a dead one is taken over.
 */
export function claimDirectory(directory: string): { release(): void } {
  const file = join(directory, 'run.lock');
  for (;;) {
    try {
      const fd = openSync(file, 'wx');
      writeSync(fd, `${process.pid} ${startOf(process.pid)}`);
      closeSync(fd);
      return { release: () => rmSync(file, { force: true }) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
        withPath(file, () => {
          throw error;
        });
    }
    const { held, pid } = isHeld(file);
    if (held)
      throw new HoneError(
        'run_busy',
        `${directory} is in use by process ${pid}`,
        `Wait for it, or stop it first; if no such run exists any more, remove ${file}.`,
      );
    rmSync(file, { force: true });
  }
}

/** Runs `body` while this process holds the folder. Errors: those of `claimDirectory` and of `body`. */
export async function whileClaimed<T>(directory: string, body: () => Promise<T>): Promise<T> {
  const lock = claimDirectory(directory);
  try {
    return await body();
  } finally {
    lock.release();
  }
}
