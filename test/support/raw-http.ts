/** Requests by hand on a connection of their own, and everything that came back. */
import { type RawAnswer, type RawConnection, rawConnect } from "./http-by-hand.ts";

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

/** All that was not taken yet, once the other side ends the connection. @throws {Error} when it ends within an answer */
export const answersUntilEnd = async (connection: RawConnection): Promise<readonly RawAnswer[]> => {
  await connection.ended;
  const answers: RawAnswer[] = [];
  while (connection.rest() !== "") answers.push(await connection.answer());
  return answers;
};
