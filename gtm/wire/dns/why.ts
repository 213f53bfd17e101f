/** Answers to `why.<name>`: the decision that stands, as texts that dig shows; only for networks that may know. */
import { BlockList } from "node:net";
import type { Decision } from "#gtm/domain/decision.ts";
import { regionOf } from "#gtm/domain/decision.ts";
import { encodeImage } from "./codec.ts";
import type { Image } from "./image.ts";
import { RCODE } from "./record-type.ts";

/** What does not work, and on what decisions rest meanwhile. */
export type WhyDegraded = {
  readonly degradations: readonly { readonly what: string; readonly ageMs: number }[];
  /** Of the facts that decisions rest on: the world's, or the saved ones' where it was made of those. */
  readonly worldAgeMs: number;
  readonly isWorldSaved: boolean;
};

/** @returns none where nothing is degraded */
export const degradedTexts = ({ degradations, worldAgeMs, isWorldSaved }: WhyDegraded): readonly string[] => {
  if (degradations.length === 0) return [];
  return [
    ...degradations.map(({ what, ageMs }) => `${stateOf(what)} since=${Math.round(ageMs / 1_000)}s`),
    `${isWorldSaved ? "saved-world-age-ms" : "world-age-ms"}=${shown(worldAgeMs)}`,
  ];
};

const stateOf = (what: string): string => (what === "store" ? "store=away" : `degraded=${what}`);

export type WhyAccess = {
  /** Where nobody may ask, the names do not exist. */
  readonly isOn: boolean;
  /** @param address of the peer */
  readonly allows: (address: string) => boolean;
};

/** @param networks CIDR notation; @throws what BlockList throws for something else: the configuration's checks refuse it */
export const createWhyAccess = (networks: readonly string[]): WhyAccess => {
  const allowed = new BlockList();
  for (const network of networks) {
    const [address = "", bits = ""] = network.split("/");
    allowed.addSubnet(address, Number(bits), familyOf(address));
  }
  return { isOn: networks.length > 0, allows: (address) => allowed.check(address, familyOf(address)) };
};

const familyOf = (address: string): "ipv4" | "ipv6" => (address.includes(":") ? "ipv6" : "ipv4");

/** @param nowMs on the instance's monotonic clock */
export const decisionTexts = (decision: Decision, nowMs: number): readonly string[] => {
  const { verdict, id, considered, answeredWith } = decision;
  const region = regionOf(verdict);
  const chosen = verdict.kind === "unserved" ? null : verdict;
  const reportAgeMs = considered.find((one) => one.region === region)?.reportAgeMs ?? null;
  return [
    `region=${region ?? "none"}`,
    `verdict=${verdict.kind}`,
    `answered-with=${answeredWith}`,
    `lead-ms=${shown(chosen?.leadMs ?? null)}`,
    `runner-up=${chosen?.runnerUp ?? "none"}`,
    `decision=${id}`,
    `decision-age-ms=${shown(nowMs - decision.decidedAtMs)}`,
    `report-age-ms=${shown(reportAgeMs === null ? null : reportAgeMs + nowMs - decision.decidedAtMs)}`,
  ];
};

const shown = (ms: number | null): string => (ms === null ? "unknown" : Math.round(ms).toString());

/** What a name says that no decision stands behind: fixed addresses. */
export const FIXED_TEXTS: readonly string[] = ["steered=no"];

/** A text is as old as it is read: nobody keeps it. */
export const whyImage = (texts: readonly string[]): Image =>
  encodeImage({
    rcode: RCODE.NOERROR,
    isAuthoritative: true,
    error: null,
    answers: texts.map((text) => ({ owner: "question", ttlSeconds: 0, data: { type: "TXT", texts: [text] } })),
    authority: [],
    additional: [],
  });
