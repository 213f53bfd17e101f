/** One request by hand on a connection of its own, and its answer. */
import { type RawAnswer, rawConnect } from "./http-by-hand.ts";

export type { RawAnswer } from "./http-by-hand.ts";

/** @param text the whole request as latin1: one octet a character @param options.isHead the answer has no body */
export const askRaw = async (
  port: number,
  text: string,
  options: { readonly isHead?: boolean } = {},
): Promise<RawAnswer> => {
  await using connection = await rawConnect(port);
  connection.send(text);
  return await connection.answer(options.isHead === true ? "head" : "whole");
};
