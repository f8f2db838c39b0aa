import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

/**
 * Writes ONNX models: the subset of onnx.proto3 that explicit graphs need.
 * Field numbers are those of https://github.com/onnx/onnx/blob/main/onnx/onnx.proto3 (IR version 10, opset 21).
 */

export type DType = 'float32' | 'int32' | 'int64' | 'bool';

/** `TensorProto.DataType`. */
export const DATA_TYPE: Readonly<Record<DType, number>> = { float32: 1, int32: 6, int64: 7, bool: 9 };

/** A plain number is an integer attribute; a float attribute says so. */
export type Attribute = number | string | readonly number[] | { readonly float: number };
export type Attributes = Readonly<Record<string, Attribute>>;

export interface NodeDef {
  readonly type: string;
  /** Empty for the standard operators, `com.microsoft` for ONNX Runtime's own. */
  readonly domain: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: Attributes;
}

/** An input or output of the graph; a string is a symbolic dimension. */
export interface PortDef {
  readonly name: string;
  readonly dtype: DType;
  readonly shape: readonly (number | string)[];
}

/** A constant; `data` holds its values little-endian, row-major. */
export interface ConstantDef {
  readonly name: string;
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly data: Uint8Array;
}

export interface ModelDef {
  readonly nodes: readonly NodeDef[];
  readonly inputs: readonly PortDef[];
  readonly outputs: readonly PortDef[];
  readonly constants: readonly ConstantDef[];
}

/** One protobuf message in the making. */
class Message {
  private readonly writer = new BinaryWriter();

  int(field: number, value: number): this {
    this.writer.tag(field, WireType.Varint).int64(value);
    return this;
  }

  float(field: number, value: number): this {
    this.writer.tag(field, WireType.Bit32).float(value);
    return this;
  }

  bytes(field: number, value: Uint8Array): this {
    this.writer.tag(field, WireType.LengthDelimited).bytes(value);
    return this;
  }

  string(field: number, value: string): this {
    this.writer.tag(field, WireType.LengthDelimited).string(value);
    return this;
  }

  message(field: number, value: Message): this {
    return this.bytes(field, value.finish());
  }

  finish(): Uint8Array {
    return this.writer.finish();
  }
}

function attributeProto(name: string, value: Attribute): Message {
  const message = new Message().string(1, name);
  if (typeof value === 'number') return message.int(3, value).int(20, 2);
  if (typeof value === 'string') return message.string(4, value).int(20, 3);
  if ('float' in value) return message.float(2, value.float).int(20, 1);
  for (const item of value) message.int(8, item);
  return message.int(20, 7);
}

function nodeProto(node: NodeDef, index: number): Message {
  const message = new Message();
  for (const name of node.inputs) message.string(1, name);
  for (const name of node.outputs) message.string(2, name);
  message.string(3, `${node.type}_${index}`).string(4, node.type);
  for (const [name, value] of Object.entries(node.attributes)) message.message(5, attributeProto(name, value));
  if (node.domain !== '') message.string(7, node.domain);
  return message;
}

function tensorProto(constant: ConstantDef): Message {
  const message = new Message();
  for (const size of constant.shape) message.int(1, size);
  return message.int(2, DATA_TYPE[constant.dtype]).string(8, constant.name).bytes(9, constant.data);
}

function valueInfoProto(port: PortDef): Message {
  const shape = new Message();
  for (const size of port.shape) {
    shape.message(1, typeof size === 'number' ? new Message().int(1, size) : new Message().string(2, size));
  }
  const tensor = new Message().int(1, DATA_TYPE[port.dtype]).message(2, shape);
  return new Message().string(1, port.name).message(2, new Message().message(1, tensor));
}

/** The bytes of a `ModelProto`. Nodes must be in topological order. */
export function encodeModel(model: ModelDef): Uint8Array {
  const graph = new Message();
  model.nodes.forEach((node, i) => {
    graph.message(1, nodeProto(node, i));
  });
  graph.string(2, 'hone');
  for (const constant of model.constants) graph.message(5, tensorProto(constant));
  for (const port of model.inputs) graph.message(11, valueInfoProto(port));
  for (const port of model.outputs) graph.message(12, valueInfoProto(port));
  const opset = (domain: string, version: number): Message => new Message().string(1, domain).int(2, version);
  return new Message()
    .int(1, 10)
    .string(2, 'hone')
    .message(7, graph)
    .message(8, opset('', 21))
    .message(8, opset('com.microsoft', 1))
    .finish();
}
