/** The safetensors format: 8 bytes of header length (little-endian), a JSON header, the tensors' bytes without gaps. */
import { type FileHandle, open } from 'node:fs/promises';
import { z } from 'zod';
import { HoneError } from '../../core/error.js';
import { writeDurably } from '../../core/io.js';
import { elementCount } from '../model/parameters.js';
import { fromBfloat16, fromHalf, toHalf } from './half.js';
import { checkpointError } from './read.js';

export type StoredType = 'F32' | 'F16' | 'BF16';
const WIDTH: Readonly<Record<StoredType, number>> = { F32: 4, F16: 2, BF16: 2 };
/** The limit of the reference implementation. */
const MAX_HEADER = 100_000_000;

const count = z.number().int().nonnegative();
const entrySchema = z.object({
  dtype: z.enum(['F32', 'F16', 'BF16']),
  shape: z.array(count),
  data_offsets: z.tuple([count, count]),
});

interface Entry {
  readonly type: StoredType;
  readonly shape: readonly number[];
  /** Bytes from the start of the file. */
  readonly start: number;
}

const AGAIN = 'The file is damaged or incomplete; fetch or save it again.';

/** An open safetensors file whose header has been checked against its size. */
export class SafetensorsFile {
  private constructor(
    readonly path: string,
    private readonly handle: FileHandle,
    private readonly entries: ReadonlyMap<string, Entry>,
    readonly metadata: Readonly<Record<string, string>>,
  ) {}

  /**
   * Errors: `checkpoint_missing`, `checkpoint_truncated` (shorter than its header says), `checkpoint_corrupt` (the
   * header is not valid), each naming the file and, where there is one, the tensor.
   */
  static async open(path: string): Promise<SafetensorsFile> {
    let handle: FileHandle;
    try {
      handle = await open(path, 'r');
    } catch (error) {
      throw checkpointError(error, path);
    }
    try {
      const { entries, metadata } = await readHeader(handle, path);
      return new SafetensorsFile(path, handle, entries, metadata);
    } catch (error) {
      await handle.close();
      throw checkpointError(error, path);
    }
  }

  get names(): readonly string[] {
    return [...this.entries.keys()];
  }

  /**
   * Reads a tensor, converted to float32, into `target`.
   * Errors: `tensor_missing`, `tensor_shape`, naming file, tensor and both shapes.
   */
  async read(name: string, shape: readonly number[], target: Float32Array): Promise<void> {
    const entry = this.entries.get(name);
    if (entry === undefined) {
      throw new HoneError(
        'tensor_missing',
        `${this.path}: tensor ${name} is missing`,
        'config.json describes another model than this file holds.',
      );
    }
    if (entry.shape.join() !== shape.join()) {
      throw new HoneError(
        'tensor_shape',
        `${this.path}: tensor ${name} has shape [${entry.shape.join(', ')}], expected [${shape.join(', ')}]`,
        'config.json describes another model than this file holds.',
      );
    }
    if (entry.type === 'F32') {
      await this.readBytes(new Uint8Array(target.buffer, target.byteOffset, target.byteLength), entry.start);
      return;
    }
    const words = new Uint16Array(target.length);
    await this.readBytes(new Uint8Array(words.buffer), entry.start);
    const convert = entry.type === 'F16' ? fromHalf : fromBfloat16;
    for (let i = 0; i < words.length; i++) target[i] = convert(words[i]!);
  }

  close(): Promise<void> {
    return this.handle.close();
  }

  private async readBytes(target: Uint8Array, position: number): Promise<void> {
    try {
      await readFully(this.handle, this.path, target, position);
    } catch (error) {
      throw checkpointError(error, this.path);
    }
  }
}

async function readFully(handle: FileHandle, path: string, target: Uint8Array, position: number): Promise<void> {
  let done = 0;
  while (done < target.length) {
    const { bytesRead } = await handle.read(target, done, target.length - done, position + done);
    if (bytesRead === 0)
      throw new HoneError('checkpoint_truncated', `${path}: ends before byte ${position + done}`, AGAIN);
    done += bytesRead;
  }
}

async function readHeader(
  handle: FileHandle,
  path: string,
): Promise<{ entries: Map<string, Entry>; metadata: Record<string, string> }> {
  const corrupt = (what: string): never => {
    throw new HoneError('checkpoint_corrupt', `${path}: ${what}`, AGAIN);
  };
  const { size } = await handle.stat();
  if (size < 8) throw new HoneError('checkpoint_truncated', `${path}: only ${size} bytes long`, AGAIN);
  const prefix = new Uint8Array(8);
  await readFully(handle, path, prefix, 0);
  const length = Number(new DataView(prefix.buffer).getBigUint64(0, true));
  if (length > MAX_HEADER) corrupt(`not a safetensors file (header of ${length} bytes)`);
  if (8 + length > size) {
    throw new HoneError(
      'checkpoint_truncated',
      `${path}: ${size} bytes long, but its header takes ${8 + length}`,
      AGAIN,
    );
  }
  const bytes = new Uint8Array(length);
  await readFully(handle, path, bytes, 8);
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    corrupt('the header is not valid JSON');
  }
  if (typeof header !== 'object' || header === null || Array.isArray(header)) corrupt('the header is not an object');
  const { __metadata__: rawMetadata = {}, ...tensors } = header as Record<string, unknown>;
  const metadata = z.record(z.string(), z.string()).safeParse(rawMetadata);
  if (!metadata.success) return corrupt('__metadata__ must hold strings');

  const entries = new Map<string, Entry>();
  const spans: { name: string; begin: number; end: number }[] = [];
  for (const [name, raw] of Object.entries(tensors)) {
    const parsed = entrySchema.safeParse(raw);
    if (!parsed.success) {
      const issue = parsed.error.issues[0];
      return corrupt(`tensor ${name}: ${issue?.path.join('.')}: ${issue?.message}`);
    }
    const { dtype, shape, data_offsets } = parsed.data;
    const [begin, end] = data_offsets;
    if (end - begin !== WIDTH[dtype] * elementCount(shape)) {
      corrupt(`tensor ${name}: ${end - begin} bytes for shape [${shape.join(', ')}] of ${dtype}`);
    }
    entries.set(name, { type: dtype, shape, start: 8 + length + begin });
    spans.push({ name, begin, end });
  }
  spans.sort((a, b) => a.begin - b.begin || a.end - b.end);
  let at = 0;
  for (const { name, begin, end } of spans) {
    if (begin !== at) corrupt(`tensor ${name}: starts at byte ${begin}, expected ${at}`);
    if (8 + length + end > size) {
      throw new HoneError(
        'checkpoint_truncated',
        `${path}: ${size} bytes long, but tensor ${name} ends at byte ${8 + length + end}`,
        AGAIN,
      );
    }
    at = end;
  }
  if (8 + length + at !== size) corrupt(`${size - 8 - length - at} bytes follow the last tensor`);
  return { entries, metadata: metadata.data };
}

export interface TensorToWrite {
  readonly name: string;
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

/**
 * Writes and flushes a safetensors file; use a temporary name and rename it.
 * Errors: `disk_full`, `unwritable`, `float16_overflow` (a finite value above 65504 under F16).
 */
export function writeSafetensors(
  path: string,
  tensors: readonly TensorToWrite[],
  type: 'F32' | 'F16',
  metadata: Readonly<Record<string, string>> = {},
): void {
  const header: Record<string, unknown> = { __metadata__: { format: 'pt', ...metadata } };
  let at = 0;
  for (const { name, shape, data } of tensors) {
    const end = at + data.length * WIDTH[type];
    header[name] = { dtype: type, shape, data_offsets: [at, end] };
    at = end;
  }
  const json = new TextEncoder().encode(JSON.stringify(header));
  // Spaces after the JSON align the data to 8 bytes, as the format asks.
  const length = Math.ceil(json.length / 8) * 8;
  const start = new Uint8Array(8 + length).fill(0x20);
  new DataView(start.buffer).setBigUint64(0, BigInt(length), true);
  start.set(json, 8);
  writeDurably(path, chunks(path, start, tensors, type));
}

function* chunks(
  path: string,
  start: Uint8Array,
  tensors: readonly TensorToWrite[],
  type: 'F32' | 'F16',
): Generator<Uint8Array> {
  yield start;
  for (const { name, data } of tensors) {
    if (type === 'F32') {
      yield new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
      continue;
    }
    const words = new Uint16Array(data.length);
    for (let i = 0; i < data.length; i++) {
      const half = toHalf(data[i]!);
      if ((half & 0x7fff) === 0x7c00 && Number.isFinite(data[i]!)) {
        throw new HoneError('float16_overflow', `${path}: tensor ${name} holds ${data[i]}`, 'Save as float32.');
      }
      words[i] = half;
    }
    yield new Uint8Array(words.buffer);
  }
}
