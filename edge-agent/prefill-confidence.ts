/** How much of a measured prefill speed is believed: by how many prefills, and how long ones, it rests on. */

/**
 * How long a prefill must be for its time to tell the replica's rate. An engine's step reads all weights, however few tokens it
 * computes: on an H100 (989 TFLOP/s of 16 bits over 3.35 TB/s, NVIDIA's data sheet) the first 300 tokens are free, and a rate out
 * of 14 tokens is wrong by twenty. Twice that leaves room for what a step costs besides.
 */
export const TELLING_TOKENS = 512;

/** A measurement over this many prefills is believed entirely, unless all were short. */
export const ENOUGH_PREFILLS = 20;

/** Below this, of 0 to 1, a measurement is a guess: who else knows a speed may know better. */
export const LEAST_CONFIDENCE = 0.25;
