import { HoneError } from '../../core/error.js';
import type { OptimiserSettings } from '../../core/policy.js';
import { elementCount, isMatrix, type ParameterSpec } from '../model/parameters.js';
import { type Kernels, scalarKernels, wasmKernels } from './kernels.js';
import { type WasmMemory, wasm } from './wasm.js';

/** What the store holds for each parameter: weights, gradient, first and second moment. */
export type Part = 'p' | 'g' | 'm' | 'v';
const PARTS: readonly Part[] = ['p', 'g', 'm', 'v'];
const PAGE = 65536;
/** No healthy weight comes near it, and its square still fits float32 (largest: 3.4e38). */
const LARGEST_WEIGHT = 1e18;

interface Slot {
  readonly spec: ParameterSpec;
  /** Floats before it within a part. */
  readonly offset: number;
  readonly size: number;
  readonly padded: number;
}

/**
 * All parameters with their gradients and optimiser state in one WebAssembly memory.
 *
 * The memory is not shared: ONNX Runtime refuses feeds over shared memory, but reads views of ordinary WebAssembly
 * memory without a copy. It never grows, since growing detaches every view.
 */
export class ParameterStore {
  /** Optimiser steps taken, for the bias correction. */
  steps = 0;
  readonly parameterCount: number;
  private readonly slots: ReadonlyMap<string, Slot>;
  private divergence: HoneError | undefined;
  private readonly partFloats: number;
  private readonly memory: WasmMemory;

  private constructor(
    readonly specs: readonly ParameterSpec[],
    memory: WasmMemory,
    private readonly kernels: Kernels,
    layout: Layout,
  ) {
    this.memory = memory;
    this.slots = layout.slots;
    this.partFloats = layout.partFloats;
    this.parameterCount = specs.reduce((total, spec) => total + elementCount(spec.shape), 0);
  }

  /** Errors: `model_too_large` when 16 bytes a parameter do not fit into WebAssembly's 4 GiB. */
  static async create(specs: readonly ParameterSpec[], useWasm = true): Promise<ParameterStore> {
    const layout = layOut(specs);
    const bytes = 4 * (PARTS.length * layout.partFloats + layout.largest);
    const pages = Math.ceil(bytes / PAGE);
    if (pages > 65536) {
      throw new HoneError(
        'model_too_large',
        `the embedded engine needs ${(bytes / 2 ** 30).toFixed(1)} GiB for this model; its limit is 4 GiB`,
        'Train models of this size through a remote engine.',
      );
    }
    const memory = new wasm.Memory({ initial: pages, maximum: pages });
    const kernels = (useWasm ? await wasmKernels(memory) : undefined) ?? scalarKernels(memory);
    return new ParameterStore(specs, memory, kernels, layout);
  }

  /** A live view; writing it changes the parameter. */
  view(part: Part, name: string): Float32Array<ArrayBuffer> {
    const slot = this.slot(name);
    return new Float32Array(this.memory.buffer, this.byteOffset(part, slot), slot.size);
  }

  clearGradients(): void {
    this.wholePart('g').fill(0);
  }

  /** Adds a gradient to what has gathered since {@link clearGradients}. */
  accumulate(name: string, gradient: Float32Array): void {
    const slot = this.slot(name);
    // Behind the four parts lies room for the largest tensor.
    const at = 4 * PARTS.length * this.partFloats;
    const scratch = new Float32Array(this.memory.buffer, at, slot.padded);
    scratch.set(gradient);
    // The padding of the slot must stay zero: it is part of the norm.
    scratch.fill(0, slot.size);
    this.kernels.accumulate(this.byteOffset('g', slot), at, slot.padded);
  }

  /** Euclidean norm of the gathered gradient; not finite where any gradient is not. */
  gradientNorm(): number {
    return Math.sqrt(this.kernels.sumOfSquares(4 * this.partFloats, this.partFloats));
  }

  /**
   * Clips the gathered gradient to `maxGradNorm` and takes one AdamW step (Loshchilov & Hutter 2019, bias-corrected,
   * decay on matrices only). Returns the norm before clipping.
   * Errors: `nan_gradient`, with weights and optimiser state untouched; `diverged` when the step itself ruined the
   * weights, see {@link checkUsable}.
   */
  step(settings: OptimiserSettings): number {
    this.checkUsable();
    const norm = this.gradientNorm();
    if (!Number.isFinite(norm)) {
      throw new HoneError(
        'nan_gradient',
        'the gradient is not finite; the optimiser step was refused and the weights are unchanged',
        'Lower the learning rate or look for infinite advantages or log-probability ratios in the batch.',
      );
    }
    const { learningRate, beta1, beta2, epsilon, weightDecay, maxGradNorm } = settings;
    this.steps += 1;
    const scalars = {
      scale: norm > maxGradNorm ? maxGradNorm / norm : 1,
      beta1,
      beta2,
      rest1: 1 - beta1,
      rest2: 1 - beta2,
      rate: learningRate / (1 - beta1 ** this.steps),
      correction: 1 / (1 - beta2 ** this.steps),
      epsilon,
    };
    let largest = 0;
    let where = '';
    for (const slot of this.slots.values()) {
      const [p, g, m, v] = PARTS.map((part) => this.byteOffset(part, slot)) as [number, number, number, number];
      const decay = isMatrix(slot.spec) ? learningRate * weightDecay : 0;
      const size = this.kernels.adamw(p, g, m, v, slot.padded, { ...scalars, decay });
      // NaN counts as larger than any number.
      if (!(size <= largest || Number.isNaN(largest))) {
        largest = size;
        where = slot.spec.name;
      }
    }
    if (!(largest < LARGEST_WEIGHT)) {
      const size = Number.isNaN(largest) ? 'is not a number' : `reaches ${largest.toExponential(1)}`;
      this.divergence = new HoneError(
        'diverged',
        `optimiser step ${this.steps} made the weights useless: ${where} ${size}`,
        `Go back to the last checkpoint and lower the learning rate (${learningRate}).`,
      );
    }
    this.checkUsable();
    return norm;
  }

  /**
   * Errors: `diverged` after a step that left weights which are not finite or too large to compute with: norms would
   * overflow to zero and everything would seem to go well, with every token equally likely.
   */
  checkUsable(): void {
    if (this.divergence !== undefined) throw this.divergence;
  }

  private slot(name: string): Slot {
    const slot = this.slots.get(name);
    if (slot === undefined) throw new Error(`no parameter ${name}`);
    return slot;
  }

  private byteOffset(part: Part, slot: Slot): number {
    return 4 * (PARTS.indexOf(part) * this.partFloats + slot.offset);
  }

  private wholePart(part: Part): Float32Array {
    return new Float32Array(this.memory.buffer, 4 * PARTS.indexOf(part) * this.partFloats, this.partFloats);
  }
}

interface Layout {
  readonly slots: ReadonlyMap<string, Slot>;
  readonly partFloats: number;
  /** Floats of the largest padded parameter. */
  readonly largest: number;
}

/** Places the parameters one after another, each padded to whole SIMD vectors of four floats. */
function layOut(specs: readonly ParameterSpec[]): Layout {
  const slots = new Map<string, Slot>();
  let offset = 0;
  let largest = 0;
  for (const spec of specs) {
    const size = elementCount(spec.shape);
    const padded = Math.ceil(size / 4) * 4;
    slots.set(spec.name, { spec, offset, size, padded });
    offset += padded;
    largest = Math.max(largest, padded);
  }
  return { slots, partFloats: offset, largest };
}
