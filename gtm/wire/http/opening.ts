/**
 * The opening of a chat: what the system and the first user say. Every later turn repeats it, so its fingerprint finds a
 * conversation whose client names none; two chats that share only the system's words differ in the user's.
 */
import { createHash, type Hash, hash } from "node:crypto";
import type { TextOf } from "./member-paths.ts";
import { createMarkFinder } from "./prompt-marks.ts";
import { createTextDigest, type TextDigest } from "./text-digest.ts";

export type Opening = {
  readonly messageBegan: () => void;
  /** A part of a string of the prompt, as it is written. */
  readonly text: (of: TextOf, chunk: Buffer, from: number, end: number) => void;
  readonly textEnded: (of: TextOf) => void;
  /** @param role told at the end, since it may stand behind the text */
  readonly messageEnded: (role: unknown) => void;
  /** Whether the first user has spoken: later messages say nothing new. */
  readonly isOver: () => boolean;
  /** null: no user has spoken. */
  readonly fingerprint: () => string | null;
};

/** What no chat has before its first user's words: beyond it nobody looks for them. */
const MOST_MESSAGES = 64;

export const createOpening = (): Opening => {
  /** Words of the system that stand outside of the messages, and those in messages. */
  let system: TextDigest | null = null;
  let systemMessages: Hash | null = null;
  let user: Buffer | null = null;
  let message: TextDigest | null = null;
  let messages = 0;

  const isOver = (): boolean => user !== null || messages > MOST_MESSAGES;
  const digestFor = (of: TextOf): TextDigest | null => {
    switch (of) {
      case "system":
        system ??= createTextDigest();
        return system;
      case "message":
      case "user":
        message ??= isOver() ? null : createTextDigest();
        return message;
      case "prompt":
        message ??= isOver() ? null : createTextDigest(createMarkFinder());
        return message;
    }
  };
  const userSpoke = (): void => {
    if (message !== null && message.octets() > 0 && user === null) user = message.digest();
    message = null;
  };

  return {
    messageBegan: () => {
      messages += 1;
      message = null;
    },
    text: (of, chunk, from, end) => digestFor(of)?.add(chunk, from, end),
    textEnded: (of) => {
      digestFor(of)?.endString();
      // A prompt that is one string is what the user says.
      if (of === "user" || of === "prompt") userSpoke();
    },
    messageEnded: (role) => {
      if (role === "user") userSpoke();
      else if ((role === "system" || role === "developer") && message !== null && !isOver()) {
        systemMessages ??= createHash("sha256");
        systemMessages.update(message.digest());
      }
      message = null;
    },
    isOver,
    fingerprint: () => {
      if (user === null) return null;
      const parts = [system?.digest() ?? NOTHING, systemMessages?.digest() ?? NOTHING, user];
      return hash("sha256", Buffer.concat(parts), "base64url");
    },
  };
};

/** As long as a digest, so that the parts cannot be mistaken for one another. */
const NOTHING = Buffer.alloc(32);
