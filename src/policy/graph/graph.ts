import {
  type Attributes,
  type ConstantDef,
  type DType,
  encodeModel,
  type NodeDef,
  type PortDef,
} from '../onnx/proto.js';

/** A tensor in the graph. Gradients flow to it when it depends on a differentiable input through recorded operators. */
export interface Tensor {
  readonly name: string;
  readonly dtype: DType;
  readonly differentiable: boolean;
}

/**
 * A gradient that is added into whatever else the tensor has gathered. The base is the sum of the plain gradients, so
 * that a tied embedding needs no zero tensor and no extra addition.
 */
export interface Scatter {
  readonly into: (base: Tensor | undefined) => Tensor;
}
export type Cotangent = Tensor | Scatter | undefined;

/** Vector-Jacobian product: given ∂L/∂output, emits ∂L/∂input for each input, in order. */
export type Vjp = (outputGradient: Tensor) => readonly Cotangent[];

interface TapeEntry {
  readonly output: Tensor;
  readonly inputs: readonly Tensor[];
  readonly vjp: Vjp;
}

export interface EmitOptions {
  readonly domain?: string;
  /** Defaults to the type of the first input. */
  readonly dtype?: DType;
  /** Names the output; it is then also a graph output if `shape` is given with {@link Graph.output}. */
  readonly name?: string;
}

/** Builds one explicit ONNX graph, and by reverse-mode differentiation the backward pass into the same graph. */
export class Graph {
  readonly nodes: NodeDef[] = [];
  readonly inputs: PortDef[] = [];
  readonly outputs: PortDef[] = [];
  private readonly constants: ConstantDef[] = [];
  private readonly constantCache = new Map<string, Tensor>();
  private readonly tape: TapeEntry[] = [];
  private counter = 0;

  private fresh(prefix: string): string {
    return `${prefix}_${this.counter++}`;
  }

  input(name: string, dtype: DType, shape: readonly (number | string)[], differentiable = false): Tensor {
    this.inputs.push({ name, dtype, shape });
    return { name, dtype, differentiable };
  }

  output(tensor: Tensor, name: string, shape: readonly (number | string)[]): void {
    this.emit('Identity', [tensor], {}, { name });
    this.outputs.push({ name, dtype: tensor.dtype, shape });
  }

  /** Appends an operator with one output. The result carries no gradient unless {@link record} says how. */
  emit(
    type: string,
    inputs: readonly Tensor[],
    attributes: Attributes = {},
    { domain = '', dtype = inputs[0]?.dtype ?? 'float32', name = this.fresh(type) }: EmitOptions = {},
  ): Tensor {
    this.nodes.push({ type, domain, inputs: inputs.map((i) => i.name), outputs: [name], attributes });
    return { name, dtype, differentiable: false };
  }

  /** Appends an operator with two outputs of the type of its first input. */
  emitPair(type: string, inputs: readonly Tensor[], attributes: Attributes = {}): [Tensor, Tensor] {
    const names = [this.fresh(type), this.fresh(type)] as const;
    this.nodes.push({ type, domain: '', inputs: inputs.map((i) => i.name), outputs: names, attributes });
    const dtype = inputs[0]?.dtype ?? 'float32';
    return [
      { name: names[0], dtype, differentiable: false },
      { name: names[1], dtype, differentiable: false },
    ];
  }

  /** Says how gradients pass through `output`; returns it marked differentiable where an input is. */
  record(output: Tensor, inputs: readonly Tensor[], vjp: Vjp): Tensor {
    if (!inputs.some((i) => i.differentiable)) return output;
    const marked = { ...output, differentiable: true };
    this.tape.push({ output: marked, inputs, vjp });
    return marked;
  }

  /** A float constant; a number is a scalar. */
  floats(values: number | Float32Array, shape: readonly number[] = []): Tensor {
    const array = typeof values === 'number' ? Float32Array.of(values) : values;
    return this.constant('float32', new Uint8Array(array.buffer, array.byteOffset, array.byteLength), shape);
  }

  /** An int64 constant: a number is a scalar, an array is a vector (shapes, axes, slice bounds). */
  ints(values: number | readonly number[]): Tensor {
    const list = typeof values === 'number' ? [values] : values;
    const array = BigInt64Array.from(list.map(BigInt));
    return this.constant('int64', new Uint8Array(array.buffer), typeof values === 'number' ? [] : [list.length]);
  }

  private constant(dtype: DType, data: Uint8Array, shape: readonly number[]): Tensor {
    const small = data.length <= 64;
    const key = small ? `${dtype} ${shape.join('x')} ${data.join(',')}` : '';
    const known = this.constantCache.get(key);
    if (small && known !== undefined) return known;
    const tensor: Tensor = { name: this.fresh('const'), dtype, differentiable: false };
    this.constants.push({ name: tensor.name, dtype, shape, data: data.slice() });
    if (small) this.constantCache.set(key, tensor);
    return tensor;
  }

  /**
   * Emits the backward pass of the scalar `loss`.
   * Returns a function that gives ∂loss/∂tensor, or undefined where the loss does not depend on the tensor.
   */
  backward(loss: Tensor): (tensor: Tensor) => Tensor | undefined {
    const gathered = new Map<string, Cotangent[]>([[loss.name, [this.floats(1)]]]);
    const totals = new Map<string, Tensor | undefined>();
    const total = (tensor: Tensor): Tensor | undefined => {
      if (totals.has(tensor.name)) return totals.get(tensor.name);
      const plain: Tensor[] = [];
      const scatters: Scatter[] = [];
      for (const part of gathered.get(tensor.name) ?? []) {
        if (part === undefined) continue;
        if ('into' in part) scatters.push(part);
        else plain.push(part);
      }
      let sum = plain.length > 2 ? this.emit('Sum', plain) : plain.length === 2 ? this.emit('Add', plain) : plain[0];
      for (const scatter of scatters) sum = scatter.into(sum);
      totals.set(tensor.name, sum);
      return sum;
    };
    for (const { output, inputs, vjp } of this.tape.toReversed()) {
      const gradient = total(output);
      if (gradient === undefined) continue;
      const parts = vjp(gradient);
      inputs.forEach((input, i) => {
        const part = parts[i];
        if (!input.differentiable || part === undefined) return;
        const list = gathered.get(input.name);
        if (list === undefined) gathered.set(input.name, [part]);
        else list.push(part);
      });
    }
    return total;
  }

  encode(): Uint8Array {
    return encodeModel({
      nodes: this.nodes,
      inputs: this.inputs,
      outputs: this.outputs,
      constants: this.constants,
    });
  }
}
