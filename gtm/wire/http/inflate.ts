/** Looks into a compressed body while it passes by: inflated beside the loop, bounded, and thrown away at once. */
import { once } from "node:events";
import type { IncomingHttpHeaders } from "node:http";
import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import type { BodyScan } from "./body-scan.ts";
import type { BodyReader } from "./read-body.ts";

const CHUNK = { chunkSize: 65_536 };
const INFLATE = {
  gzip: () => createGunzip(CHUNK),
  "x-gzip": () => createGunzip(CHUNK),
  deflate: () => createInflate(CHUNK),
  br: () => createBrotliDecompress(CHUNK),
  zstd: () => createZstdDecompress(CHUNK),
} as const satisfies Record<string, () => Transform>;
export type Encoding = keyof typeof INFLATE;

/** @returns null: the body is as it is sent; "unknown": nobody here can read it, as when it is compressed twice */
export const encodingIn = (headers: IncomingHttpHeaders): Encoding | "unknown" | null => {
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (encoding === "identity" || encoding === "") return null;
  return Object.hasOwn(INFLATE, encoding) ? (encoding as Encoding) : "unknown";
};

/** Text as dense as this is made to be so: a chat of one word repeated reaches about 200 in its best stretches. */
const MOST_GROWTH = 100;
/** What may come of any body, however small. */
const FREE_OCTETS = 1_048_576;

export type InflateRules = {
  /** Octets of text, whatever was sent. */
  readonly mostBytes: number;
  /** `bomb`: it grows beyond measure; `broken`: it is not what it says. What was found until then is not used. */
  readonly onGivenUp: (why: "bomb" | "broken") => void;
};

export const createInflating = (encoding: Encoding, scan: BodyScan, rules: InflateRules): BodyReader => {
  const stream = INFLATE[encoding]();
  let givenBytes = 0;
  let textBytes = 0;
  let isOver = false;

  const giveUp = (why: "bomb" | "broken"): void => {
    if (isOver) return;
    isOver = true;
    stream.destroy();
    rules.onGivenUp(why);
  };
  stream.on("data", (chunk: Buffer) => {
    if (isOver) return;
    textBytes += chunk.length;
    if (textBytes > Math.min(rules.mostBytes, Math.max(FREE_OCTETS, MOST_GROWTH * givenBytes))) giveUp("bomb");
    else scan.write(chunk);
  });
  stream.on("error", () => giveUp("broken"));
  // Resolves at "close", too, which is all that comes once it was given up.
  const settled = (event: "drain" | "end"): Promise<void> => {
    const over = new AbortController();
    const { signal } = over;
    return Promise.race([once(stream, event, { signal }), once(stream, "close", { signal })]).then(
      () => over.abort(),
      () => over.abort(),
    );
  };

  return {
    write: (chunk) => {
      if (isOver) return undefined;
      givenBytes += chunk.length;
      return stream.write(chunk) || stream.destroyed ? undefined : settled("drain");
    },
    soFar: scan.scanned,
    isOpened: scan.isOpened,
    end: async (isWhole) => {
      if (!isWhole) {
        isOver = true;
        stream.destroy();
        return { scanned: scan.scanned(), bytes: null };
      }
      if (!isOver) {
        const ended = settled("end");
        stream.end();
        await ended;
      }
      return { scanned: isOver ? null : scan.scanned(), bytes: textBytes };
    },
  };
};
