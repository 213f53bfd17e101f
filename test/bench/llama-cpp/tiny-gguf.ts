/** A model file of llama.cpp with random weights: it says nothing sensible, and takes its time like a real one. */
import { seededNumbers } from "./seeded-numbers.ts";

/** A Llama of 2 million weights; bytes are its tokens. */
export const SHAPE = { layers: 3, width: 256, heads: 4, kvHeads: 2, feedForward: 704, context: 8_192 } as const;

/** Bytes, and three that mean unknown, beginning and end. */
const SPECIAL = ["<unk>", "<s>", "</s>"] as const;
const VOCABULARY = SPECIAL.length + 256;

/** https://github.com/ggml-org/ggml/blob/master/docs/gguf.md */
const TYPE = { uint32: 4, int32: 5, float32: 6, string: 8, array: 9 } as const;
const TENSOR_F32 = 0;
const ALIGNMENT = 32;
/** Of SentencePiece: unknown, control, byte. */
const TOKEN_TYPE = { unknown: 2, control: 3, byte: 6 } as const;

type Tensor = { readonly name: string; readonly shape: readonly number[] };

/** @returns the file; the same seed gives the same octets */
export const tinyGguf = (seed: number): Uint8Array => {
  const tensors = tensorsOf();
  const random = seededNumbers(seed);
  const head: Buffer[] = [Buffer.from("GGUF"), u32(3), u64(tensors.length), u64(metadata().length), ...metadata()];
  let offset = 0;
  for (const { name, shape } of tensors) {
    head.push(text(name), u32(shape.length), ...shape.map(u64), u32(TENSOR_F32), u64(offset));
    offset += padded(4 * sizeOf(shape));
  }
  const headBytes = Buffer.concat(head);
  const file = Buffer.alloc(padded(headBytes.length) + offset);
  headBytes.copy(file);
  let at = padded(headBytes.length);
  for (const { name, shape } of tensors) {
    const scale = name.includes("norm") ? 0 : 0.02;
    const values = new Float32Array(file.buffer, file.byteOffset + at, sizeOf(shape));
    for (let i = 0; i < values.length; i += 1) values[i] = scale === 0 ? 1 : scale * (2 * random() - 1);
    at += padded(4 * sizeOf(shape));
  }
  return file;
};

const tensorsOf = (): readonly Tensor[] => {
  const { layers, width, heads, kvHeads, feedForward } = SHAPE;
  const kvWidth = (width / heads) * kvHeads;
  const block = (layer: number): readonly Tensor[] => {
    const named = (name: string, ...shape: number[]): Tensor => ({ name: `blk.${layer}.${name}.weight`, shape });
    return [
      ...[named("attn_norm", width), named("attn_q", width, width), named("attn_k", width, kvWidth)],
      ...[named("attn_v", width, kvWidth), named("attn_output", width, width), named("ffn_norm", width)],
      ...[named("ffn_gate", width, feedForward), named("ffn_up", width, feedForward)],
      named("ffn_down", feedForward, width),
    ];
  };
  return [
    { name: "token_embd.weight", shape: [width, VOCABULARY] },
    ...Array.from({ length: layers }, (_, layer) => block(layer)).flat(),
    { name: "output_norm.weight", shape: [width] },
    { name: "output.weight", shape: [width, VOCABULARY] },
  ];
};

const metadata = (): readonly Buffer[] => {
  const tokens = [...SPECIAL, ...Array.from({ length: 256 }, (_, byte) => `<0x${hex(byte)}>`)];
  const types = [TOKEN_TYPE.unknown, TOKEN_TYPE.control, TOKEN_TYPE.control, ...Array(256).fill(TOKEN_TYPE.byte)];
  return [
    string("general.architecture", "llama"),
    string("general.name", "random"),
    uint("llama.context_length", SHAPE.context),
    uint("llama.embedding_length", SHAPE.width),
    uint("llama.block_count", SHAPE.layers),
    uint("llama.feed_forward_length", SHAPE.feedForward),
    uint("llama.attention.head_count", SHAPE.heads),
    uint("llama.attention.head_count_kv", SHAPE.kvHeads),
    uint("llama.rope.dimension_count", SHAPE.width / SHAPE.heads),
    uint("llama.vocab_size", VOCABULARY),
    float("llama.attention.layer_norm_rms_epsilon", 1e-5),
    string("tokenizer.ggml.model", "llama"),
    array("tokenizer.ggml.tokens", TYPE.string, tokens.map(text)),
    array(
      "tokenizer.ggml.scores",
      TYPE.float32,
      tokens.map(() => f32(0)),
    ),
    array("tokenizer.ggml.token_type", TYPE.int32, types.map(u32)),
    uint("tokenizer.ggml.unknown_token_id", 0),
    uint("tokenizer.ggml.bos_token_id", 1),
    uint("tokenizer.ggml.eos_token_id", 2),
  ];
};

const hex = (byte: number): string => byte.toString(16).toUpperCase().padStart(2, "0");
const sizeOf = (shape: readonly number[]): number => shape.reduce((product, side) => product * side, 1);
const padded = (bytes: number): number => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;

const u32 = (value: number): Buffer => {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32LE(value);
  return buffer;
};
const u64 = (value: number): Buffer => {
  const buffer = Buffer.alloc(8);
  buffer.writeBigUInt64LE(BigInt(value));
  return buffer;
};
const f32 = (value: number): Buffer => {
  const buffer = Buffer.alloc(4);
  buffer.writeFloatLE(value);
  return buffer;
};
const text = (value: string): Buffer => Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)]);

const entry = (key: string, type: number, value: Buffer): Buffer => Buffer.concat([text(key), u32(type), value]);
const string = (key: string, value: string): Buffer => entry(key, TYPE.string, text(value));
const uint = (key: string, value: number): Buffer => entry(key, TYPE.uint32, u32(value));
const float = (key: string, value: number): Buffer => entry(key, TYPE.float32, f32(value));
const array = (key: string, type: number, values: readonly Buffer[]): Buffer =>
  entry(key, TYPE.array, Buffer.concat([u32(type), u64(values.length), ...values]));
