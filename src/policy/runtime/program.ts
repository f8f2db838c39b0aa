import type { InferenceSession, Tensor as OrtTensor } from 'onnxruntime-node';
import { HoneError } from '../../core/error.js';
import type { Graph } from '../graph/graph.js';

type Ort = typeof import('onnxruntime-node');
export type Feeds = Readonly<Record<string, OrtTensor>>;
export type Outputs = InferenceSession.OnnxValueMapType;

let loading: Promise<Ort> | undefined;

/** ONNX Runtime, loaded on first use. Errors: `engine_unavailable` where its native library does not load. */
export function loadRuntime(): Promise<Ort> {
  loading ??= import('onnxruntime-node').catch((error: unknown) => {
    throw new HoneError(
      'engine_unavailable',
      `onnxruntime-node does not load: ${error instanceof Error ? error.message : String(error)}`,
      'Reinstall with `npm ci`; its CPU library ships inside the package for Linux, macOS and Windows on x64 and arm64.',
    );
  });
  return loading;
}

/** A compiled graph. Shapes may change from run to run without a new compilation. */
export class Program {
  private constructor(private readonly session: InferenceSession) {}

  /** `threads` is the number of intra-op threads; results are reproducible bit for bit for a given number. */
  static async compile(graph: Graph, threads: number): Promise<Program> {
    const ort = await loadRuntime();
    const session = await ort.InferenceSession.create(graph.encode(), {
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      executionMode: 'sequential',
      // Sampling and training meet a new shape at almost every run, so a memory plan per shape is never used twice.
      enableMemPattern: false,
      logSeverityLevel: 3,
      // Spinning threads would take the cores from the sandboxes that run programs meanwhile.
      extra: { session: { intra_op: { allow_spinning: '0' } } },
    });
    return new Program(session);
  }

  /** Runs to completion before it returns control: ONNX Runtime for Node is synchronous. Use it in a worker only. */
  run(feeds: Feeds, outputs?: readonly string[]): Promise<Outputs> {
    return outputs === undefined ? this.session.run(feeds) : this.session.run(feeds, outputs);
  }

  release(): Promise<void> {
    return this.session.release();
  }
}

/** The values of a float32 output. */
export function floatsOf(outputs: Outputs, name: string): Float32Array {
  const data = outputs[name]?.data;
  if (!(data instanceof Float32Array)) throw new Error(`output ${name} is not float32`);
  return data;
}
