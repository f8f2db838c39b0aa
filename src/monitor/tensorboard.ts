import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import crc32c from 'crc-32/crc32c.js';
import type { EvaluationMetrics, StepMetrics } from '../core/metrics.js';

/** One point of one curve. */
export interface Scalar {
  readonly tag: string;
  readonly value: number;
}

/** TFRecord's masked CRC-32C (tensorflow/core/lib/hash/crc32c.h), little-endian. */
function maskedCrc(bytes: Uint8Array): Uint8Array {
  const crc = crc32c.buf(bytes) >>> 0;
  const masked = (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
  const out = new Uint8Array(4);
  new DataView(out.buffer).setUint32(0, masked, true);
  return out;
}

/** One TFRecord: length, its checksum, data, its checksum (tensorflow/core/lib/io/record_writer.h). */
function record(data: Uint8Array): Uint8Array {
  const length = new Uint8Array(8);
  new DataView(length.buffer).setBigUint64(0, BigInt(data.length), true);
  return Buffer.concat([length, maskedCrc(length), data, maskedCrc(data)]);
}

/** `tensorflow.Event` (tensorflow/core/util/event.proto): wall_time 1, step 2, file_version 3, summary 5. */
function event(wallSeconds: number, step: number, body: (writer: BinaryWriter) => void): Uint8Array {
  const writer = new BinaryWriter();
  writer.tag(1, WireType.Bit64).double(wallSeconds);
  if (step > 0) writer.tag(2, WireType.Varint).int64(step);
  body(writer);
  return record(writer.finish());
}

/** The record that a TensorBoard event file must begin with. */
export function eventFileHeader(wallSeconds: number): Uint8Array {
  return event(wallSeconds, 0, (writer) => void writer.tag(3, WireType.LengthDelimited).string('brain.Event:2'));
}

/** Scalars of one step as one record; `wallSeconds` since 1970. */
export function scalarEvent(wallSeconds: number, step: number, scalars: readonly Scalar[]): Uint8Array {
  return event(wallSeconds, step, (writer) => {
    writer.tag(5, WireType.LengthDelimited).fork();
    for (const { tag, value } of scalars) {
      writer.tag(1, WireType.LengthDelimited).fork();
      writer.tag(1, WireType.LengthDelimited).string(tag).tag(2, WireType.Bit32).float(value);
      writer.join();
    }
    writer.join();
  });
}

/** The curves of a metrics line: every number under `train/`, pass@k under `evaluation/`. */
export function scalarsOf(line: StepMetrics | EvaluationMetrics): Scalar[] {
  if (line.kind === 'evaluation')
    return Object.entries(line.passAt).map(([k, { value }]) => ({ tag: `evaluation/pass@${k}`, value }));
  const { kind: _kind, step: _step, rewardParts, verdicts, ...numbers } = line;
  const named = (group: string, values: { readonly [name: string]: number }): Scalar[] =>
    Object.entries(values).map(([name, value]) => ({ tag: `${group}/${name}`, value }));
  return [...named('train', numbers), ...named('reward', rewardParts), ...named('verdicts', { ...verdicts })];
}
