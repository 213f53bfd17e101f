/**
 * How long a prefill must be for its time to tell the replica's rate. An engine's step reads all weights, however few tokens it
 * computes: on an H100 (989 TFLOP/s of 16 bits over 3.35 TB/s, NVIDIA's data sheet) the first 300 tokens are free, and a rate out
 * of 14 tokens is wrong by twenty. Twice that leaves room for what a step costs besides.
 */
export const TELLING_TOKENS = 512;
