import type { Command } from 'commander';
import { VERSION } from '../app/package.js';
import { doctorCommand } from './commands/doctor.js';
import { evalCommand } from './commands/eval.js';
import { pretrainCommand } from './commands/pretrain.js';
import { sampleCommand } from './commands/sample.js';
import { trainCommand } from './commands/train.js';
import { createCommand, examples } from './options.js';

/** The whole command line. */
export function createProgram(): Command {
  const program = createCommand('hone', 'Reinforcement learning for code-writing language models.').version(VERSION);
  for (const command of [trainCommand(), evalCommand(), sampleCommand(), pretrainCommand(), doctorCommand()])
    program.addCommand(command);
  examples(
    program,
    ['hone train', 'run the main job'],
    ['hone train --help', 'what it can be told'],
    ['hone doctor', 'what works on this machine'],
  );
  return program;
}
