export { describe } from './describe.js';
export { describedTask, parseExample } from './described.js';
export { drawSpec } from './draw.js';
export { type Examination, type Example, examine, passes, type Rejection } from './examine.js';
export { type ReadOptions, readTaskFile, type TaskFile } from './files/read.js';
export { taskFromRow } from './files/rows.js';
export { taskLine, writeTaskFile } from './files/write.js';
export { interpret, outputType, same, shapeOf, specKey } from './interpret.js';
export { taskLanguage, taskLanguages } from './languages/index.js';
export { plainStyle, renderBody, renderPrompt, type Style, type TaskLanguage } from './languages/language.js';
export {
  confused,
  dropped,
  type Mutation,
  type MutationKind,
  mutations,
  offByOne,
  swapped,
  wrongComparison,
} from './mutate.js';
export { familyOf, type Op, type OpName, opNames, ops, opsFrom } from './ops.js';
export { type PretrainExample, type PretrainOptions, pretrainExampleAt, pretrainExamples } from './pretrain.js';
export type { Constant, Data, DataOf, Spec, Step, Type } from './spec.js';
export { type Split, splitKey, splitOf } from './split.js';
export { ENTRY_POINT, type SynthOptions, type SynthTask, synthStream, synthTasks, taskAt, taskOf } from './synth.js';
