/** Chooses how a body is looked at while it passes by: as JSON, compressed or not, as a form, or not at all. */
import type { IncomingMessage } from "node:http";
import type { IdentitySource } from "#gtm/domain/identity-source.ts";
import type { Arrival } from "./arrival.ts";
import { announcedBytes, hasBody } from "./body.ts";
import { type BodyScan, createBodyScan } from "./body-scan.ts";
import { boundaryIn, createFormScan } from "./form-scan.ts";
import type { HttpMetrics } from "./http-metrics.ts";
import { IDENTITY_MEMBERS } from "./identity-source.ts";
import { createInflating, type Encoding, encodingIn } from "./inflate.ts";
import type { Limits } from "./limits.ts";
import { memberNames, type Wanted } from "./member-paths.ts";
import { isNamedByHead } from "./named-by-head.ts";
import { createOpening } from "./opening.ts";
import { isJsonType, PROMPT_MEMBERS } from "./prompt.ts";
import { PROMPT_SHAPES, type PromptShape, promptShapeOf } from "./prompt-shape.ts";
import { MODEL_MEMBER } from "./question.ts";
import type { BodyReader } from "./read-body.ts";
import { createSmallBodyScan, MOST_PARSED_OCTETS } from "./small-body.ts";
import { STATE_MEMBERS } from "./state.ts";

export type ReaderRules = {
  readonly identityOrder: readonly IdentitySource[];
  readonly metrics: Pick<HttpMetrics, "unscanned">;
  readonly limits: Pick<Limits, "bodyBytes">;
};

const MEMBERS = [MODEL_MEMBER, ...IDENTITY_MEMBERS, ...STATE_MEMBERS, ...PROMPT_MEMBERS];
const WANTED = memberNames(MEMBERS);
const WANTED_OF: Readonly<Record<PromptShape, Wanted>> = {
  messages: memberNames(MEMBERS, PROMPT_SHAPES.messages),
  responses: memberNames(MEMBERS, PROMPT_SHAPES.responses),
  completions: memberNames(MEMBERS, PROMPT_SHAPES.completions),
};

/** @returns null: there is no body, or none that says anything */
export const createReaderFor = ({ identityOrder, metrics, limits }: ReaderRules) => {
  const unscanned = (why: "type" | "encoding" | "bomb" | "broken"): null => {
    metrics.unscanned.inc({ why });
    return null;
  };

  /** The chat's opening costs a hash: it is looked at only where nothing better names the conversation. */
  const jsonReader = (incoming: IncomingMessage, arrival: Arrival, encoding: Encoding | null): BodyReader => {
    const { headers } = incoming;
    const shape = promptShapeOf(arrival.target.path);
    const isNamed =
      shape === null || isNamedByHead(identityOrder, { headers, target: arrival.target, hostLabel: arrival.hostLabel });
    const octets = announcedBytes(incoming) ?? Number.POSITIVE_INFINITY;
    if (isNamed && encoding === null && octets <= MOST_PARSED_OCTETS) {
      return plainReader(createSmallBodyScan(octets, WANTED, outline));
    }
    const scan = isNamed ? outline() : createBodyScan(WANTED_OF[shape], createOpening());
    return encoding === null
      ? plainReader(scan)
      : createInflating(encoding, scan, { mostBytes: limits.bodyBytes, onGivenUp: unscanned });
  };

  return (incoming: IncomingMessage, arrival: Arrival): BodyReader | null => {
    if (!hasBody(incoming)) return null;
    const encoding = encodingIn(incoming.headers);
    if (encoding === "unknown") return unscanned("encoding");
    if (isJsonType(incoming.headers)) return jsonReader(incoming, arrival, encoding);
    const boundary = boundaryIn(incoming.headers);
    // Forms carry recordings and files: nobody compresses those.
    return boundary === null || encoding !== null ? unscanned("type") : plainReader(createFormScan(boundary, WANTED));
  };
};

const outline = (): BodyScan => createBodyScan(WANTED);

const plainReader = (scan: BodyScan): BodyReader => ({
  write: (chunk) => {
    scan.write(chunk);
    return undefined;
  },
  soFar: scan.scanned,
  isOpened: scan.isOpened,
  end: () => ({ scanned: scan.scanned(), bytes: null }),
});
