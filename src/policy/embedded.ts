import type {
  Capabilities,
  Completion,
  DistributionOptions,
  OptimiserSettings,
  Policy,
  SampleOptions,
  SampleRequest,
  Score,
  Sequence,
  StepReport,
  Tokenizer,
  TrainSequence,
} from '../core/policy.js';
import type { CheckpointText } from './checkpoint/checkpoint.js';
import type { EngineClient } from './runtime/client.js';

/** A policy whose weights live in this process: the embedded engine in a worker thread. */
export class EmbeddedPolicy implements Policy {
  readonly capabilities: Capabilities;

  constructor(
    private readonly client: EngineClient,
    private readonly text: CheckpointText,
    readonly tokenizer: Tokenizer,
    parameters: number,
    private steps: number,
  ) {
    this.capabilities = {
      train: true,
      entropy: true,
      parameters,
      contextLength: text.config.max_position_embeddings,
    };
  }

  get version(): number {
    return this.steps;
  }

  /** Temperature 0 takes the most probable token and reports the log-probabilities of temperature 1. */
  sample(requests: readonly SampleRequest[], { onProgress, ...options }: SampleOptions): Promise<Completion[][]> {
    return this.client.call('sample', [requests, options], onProgress);
  }

  score(sequences: readonly Sequence[], options: DistributionOptions = {}): Promise<Score[]> {
    return this.client.call('score', [sequences, options]);
  }

  /**
   * Errors: `nan_gradient`; weights, optimiser state and version are then unchanged. `diverged`; only closing is then
   * possible.
   */
  async step(
    sequences: readonly TrainSequence[],
    optimiser: OptimiserSettings,
    options: DistributionOptions = {},
  ): Promise<StepReport> {
    const report = await this.client.call('step', [sequences, optimiser, options]);
    this.steps += 1;
    return report;
  }

  /** Errors: `disk_full`, `unwritable`, `float16_overflow`; what was in the folder before then stays. */
  async save(
    directory: string,
    {
      optimiser = false,
      dtype = 'float32',
    }: { readonly optimiser?: boolean; readonly dtype?: 'float32' | 'float16' } = {},
  ): Promise<void> {
    await this.client.call('save', [directory, this.text, { optimiser, dtype, version: this.steps }]);
  }

  close(): Promise<void> {
    return this.client.close();
  }
}
