/** The fingerprint of a chat's opening, as the front door computes it while the body passes by. */
import { createBodyScan } from "#gtm/wire/http/body-scan.ts";
import { memberNames } from "#gtm/wire/http/member-paths.ts";
import { createOpening } from "#gtm/wire/http/opening.ts";
import { PROMPT_SHAPES, type PromptShape } from "#gtm/wire/http/prompt-shape.ts";

/** @param places where the text is cut into chunks, each in memory of its own that is overwritten once it has been seen */
export const fingerprintOf = (shape: PromptShape, text: string, places: readonly number[] = []): string | null => {
  const scan = createBodyScan(memberNames(["model"], PROMPT_SHAPES[shape]), createOpening());
  const octets = Buffer.from(text);
  const ends = [...places.map((place) => place % (octets.length + 1)).toSorted((a, b) => a - b), octets.length];
  let from = 0;
  for (const end of ends) {
    const chunk = Buffer.from(octets.subarray(from, end));
    scan.write(chunk);
    chunk.fill(0x22);
    from = end;
  }
  return scan.scanned().fingerprint;
};
