import type { Tensor as OrtTensor } from 'onnxruntime-node';
import { HoneError } from '../../core/error.js';
import type {
  Completion,
  DistributionOptions,
  OptimiserSettings,
  SampleOptions,
  SampleRequest,
  Score,
  Sequence,
  StepReport,
  TrainSequence,
} from '../../core/policy.js';
import type { DecoderConfig } from '../model/config.js';
import { decodeGraph, gradientName, prefillGraph, scoreGraph, trainGraph } from '../model/graphs.js';
import { initialise, parameterTable } from '../model/parameters.js';
import { ParameterStore } from '../optim/store.js';
import { checkSequence, type MicroBatch, packBatches, packItem } from './batch.js';
import { BufferPool } from './cache.js';
import { inverseTemperature, notProbabilities } from './probabilities.js';
import { type Feeds, floatsOf, loadRuntime, Program } from './program.js';
import { sample } from './sampler.js';

export interface EngineLimits {
  /** Intra-op threads of ONNX Runtime. */
  readonly threads: number;
  /** Most sequences decoded at once. */
  readonly maxRows: number;
  /** Most padded tokens of one training, scoring or prefill run. */
  readonly maxTokens: number;
}

/** The embedded engine, in the thread that calls it. Every call blocks that thread; see `worker.ts`. */
export class Engine {
  private readonly pool = new BufferPool();
  private readonly programs = new Map<string, Program>();
  private readonly weightNames: readonly string[];
  private weights: Feeds | undefined;

  private constructor(
    readonly config: DecoderConfig,
    /** The id that ends a completion. */
    readonly eosId: number,
    readonly store: ParameterStore,
    private readonly limits: EngineLimits,
  ) {
    this.weightNames = store.specs.map((spec) => spec.name);
  }

  /** An engine whose weights are still zero: fill them with {@link initialise} or from a checkpoint. */
  static async create(config: DecoderConfig, eosId: number, limits: EngineLimits): Promise<Engine> {
    return new Engine(config, eosId, await ParameterStore.create(parameterTable(config)), limits);
  }

  /** Fresh weights, a function of the seed. */
  initialise(seed: number): void {
    for (const spec of this.store.specs) initialise(spec, this.config, seed, this.store.view('p', spec.name));
  }

  async sample(
    requests: readonly SampleRequest[],
    options: Omit<SampleOptions, 'onProgress'>,
    onTokens: (count: number) => void,
  ): Promise<Completion[][]> {
    this.store.checkUsable();
    const { config, eosId, pool } = this;
    const { maxRows, maxTokens } = this.limits;
    const prefill = await this.program('prefill');
    const decode = await this.program('decode');
    const weights = await this.weightFeeds();
    return sample({ config, eosId, prefill, decode, weights, maxRows, maxTokens, pool }, requests, options, onTokens);
  }

  /** ln π and entropy of every completion token. Errors: `nan_probability`. */
  async score(sequences: readonly Sequence[], { temperature = 1 }: DistributionOptions = {}): Promise<Score[]> {
    this.store.checkUsable();
    const inverse_temperature = await inverseTemperature(temperature);
    const scores = sequences.map((s) => ({
      logprobs: new Float32Array(s.completionIds.length),
      entropies: new Float32Array(s.completionIds.length),
    }));
    for (const batch of this.pack(sequences)) {
      const program = await this.program(`score ${batch.layout}`);
      const feeds = { ...(await this.weightFeeds()), ...(await batchFeeds(batch, false)), inverse_temperature };
      const outputs = await program.run(feeds);
      const logprobs = floatsOf(outputs, 'logp');
      const entropies = floatsOf(outputs, 'entropy');
      if (!(logprobs.every(Number.isFinite) && entropies.every(Number.isFinite))) throw notProbabilities();
      let at = 0;
      for (const { index, targets } of batch.items) {
        scores[index]?.logprobs.set(logprobs.subarray(at, at + targets.length));
        scores[index]?.entropies.set(entropies.subarray(at, at + targets.length));
        at += targets.length;
      }
    }
    return scores;
  }

  /** Gathers Σ tokenGradient · ∂ln π/∂θ over all sequences into the store. Returns the linearised loss. */
  async accumulate(
    sequences: readonly TrainSequence[],
    { temperature = 1 }: DistributionOptions = {},
  ): Promise<{ loss: number; tokens: number }> {
    const inverse_temperature = await inverseTemperature(temperature);
    this.store.clearGradients();
    let loss = 0;
    let tokens = 0;
    const outputs = ['loss', ...this.weightNames.map(gradientName)];
    for (const batch of this.pack(sequences, (i) => sequences[i]?.tokenGradients)) {
      const program = await this.program(`train ${batch.layout}`);
      const feeds = { ...(await this.weightFeeds()), ...(await batchFeeds(batch, true)), inverse_temperature };
      const values = await program.run(feeds, outputs);
      for (const name of this.weightNames) this.store.accumulate(name, floatsOf(values, gradientName(name)));
      loss += floatsOf(values, 'loss')[0] ?? 0;
      tokens += batch.count;
    }
    return { loss, tokens };
  }

  /** Errors: `nan_gradient`, with weights and optimiser state unchanged; `diverged`, and every later call as well. */
  async step(
    sequences: readonly TrainSequence[],
    optimiser: OptimiserSettings,
    options: DistributionOptions = {},
  ): Promise<StepReport> {
    this.store.checkUsable();
    const { loss, tokens } = await this.accumulate(sequences, options);
    const gradNorm = this.store.step(optimiser);
    return { gradNorm, loss, tokens };
  }

  async release(): Promise<void> {
    for (const program of this.programs.values()) await program.release();
    this.programs.clear();
  }

  private pack(
    sequences: readonly Sequence[],
    gradients: (index: number) => Float32Array | undefined = () => undefined,
  ): MicroBatch[] {
    const items = sequences.map((sequence, i) => {
      checkSequence(this.config, sequence, i);
      const weights = gradients(i);
      if (weights !== undefined && weights.length !== sequence.completionIds.length) {
        throw new HoneError(
          'bad_sequence',
          `sequence ${i}: ${weights.length} token gradients for ${sequence.completionIds.length} completion ids`,
        );
      }
      return packItem(sequence, i, weights);
    });
    return packBatches(items, this.limits.maxTokens);
  }

  private async program(kind: keyof typeof GRAPHS): Promise<Program> {
    const known = this.programs.get(kind);
    if (known !== undefined) return known;
    const program = await Program.compile(GRAPHS[kind](this.config), this.limits.threads);
    this.programs.set(kind, program);
    return program;
  }

  /** Views of the parameters: ONNX Runtime reads the current values at every run. */
  private async weightFeeds(): Promise<Feeds> {
    if (this.weights !== undefined) return this.weights;
    const { Tensor } = await loadRuntime();
    const feeds: Record<string, OrtTensor> = {};
    for (const { name, shape } of this.store.specs) {
      feeds[name] = new Tensor('float32', this.store.view('p', name), shape);
    }
    this.weights = feeds;
    return feeds;
  }
}

const GRAPHS = {
  'train whole': (config: DecoderConfig) => trainGraph(config, 'whole'),
  'train shared': (config: DecoderConfig) => trainGraph(config, 'shared'),
  'score whole': (config: DecoderConfig) => scoreGraph(config, 'whole'),
  'score shared': (config: DecoderConfig) => scoreGraph(config, 'shared'),
  prefill: prefillGraph,
  decode: decodeGraph,
} as const;

async function batchFeeds(batch: MicroBatch, train: boolean): Promise<Feeds> {
  const { Tensor } = await loadRuntime();
  const feeds: Record<string, OrtTensor> = {};
  for (const [name, { type, data, shape }] of Object.entries(batch.feeds)) {
    // A graph refuses feeds that it does not declare.
    if (train || name !== 'weights') feeds[name] = new Tensor(type, data, shape);
  }
  return feeds;
}
