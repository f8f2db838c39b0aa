#!/usr/bin/env node
import { VERSION } from '../app/package.js';
import { doctorCommand } from './commands/doctor.js';
import { evalCommand } from './commands/eval.js';
import { pretrainCommand } from './commands/pretrain.js';
import { sampleCommand } from './commands/sample.js';
import { trainCommand } from './commands/train.js';
import { EXIT, exitOnBrokenPipe, reportError } from './errors.js';
import { createCommand, examples, wantsJson } from './options.js';

const program = createCommand('hone', 'Reinforcement learning for code-writing language models.').version(VERSION);
for (const command of [trainCommand(), evalCommand(), sampleCommand(), pretrainCommand(), doctorCommand()])
  program.addCommand(command);
examples(
  program,
  ['hone train', 'run the main job'],
  ['hone train --help', 'what it can be told'],
  ['hone doctor', 'what works on this machine'],
);

exitOnBrokenPipe();
process.once('SIGINT', () => {
  // What is on disk is complete up to the last checkpoint; nothing needs finishing.
  process.stderr.write('\nhone: interrupted; a run continues with hone train --resume DIR\n');
  process.exit(EXIT.interrupted);
});

try {
  await program.parseAsync(process.argv);
  process.exitCode ??= EXIT.ok;
} catch (error) {
  process.exitCode = reportError(error, { json: wantsJson(process.argv) });
}
