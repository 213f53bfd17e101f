/** Drains that go on, as a person reads them. */

import type { OperationView } from "#gtm/wire/admin/operation-view.ts";
import { instant } from "#gtm/wire/admin/quantity-text.ts";
import { trafficText } from "#gtm/wire/admin/traffic-text.ts";
import type { Look } from "./fitted.ts";
import { age, count, UNKNOWN } from "./quantity.ts";
import { facts, state, table } from "./table.ts";
import { wrapped } from "./wrapped.ts";

export const operationTable = (items: readonly OperationView[], look: Look): string =>
  table(
    [
      { header: "OPERATION" },
      { header: "STATE" },
      { header: "MODE" },
      { header: "OF" },
      { header: "LEFT", align: "right" },
      { header: "OF", align: "right" },
      { header: "ETA", align: "right" },
      { header: "SINCE", align: "right", leave: 2 },
      { header: "BY", leave: 1 },
    ],
    items.map((one) => [
      ...[one.id, state(one.state), one.mode, trafficText(one)],
      ...[one.left === null ? UNKNOWN : count(one.left.pinned), count(one.atStart.pinned)],
      ...[age(one.etaMs), age(one.ageMs), one.actor],
    ]),
    look,
  );

export const operationText = (one: OperationView): string =>
  [
    `${one.mode} of ${trafficText(one)}: ${one.state}\n`,
    wrapped(one.because),
    facts([
      ["operation", one.id],
      ["began", `${instant(one.startedAt)} (${age(one.ageMs)} ago) by ${one.actor}: ${one.comment}`],
      [
        "deadline",
        one.deadlineAt === null
          ? "none: each at its next turn"
          : `${instant(one.deadlineAt)} (in ${age(one.deadlineInMs)})`,
      ],
      [
        "order ends",
        one.expiresAt === null
          ? one.endedAt === null
            ? "when taken back"
            : UNKNOWN
          : `${instant(one.expiresAt)} (in ${age(one.expiresInMs)})`,
      ],
      [
        "at the start",
        `${count(one.atStart.pinned)} pinned of ${count(one.atStart.conversations)}, ${count(one.atStart.tokens)} tokens`,
      ],
      ["left", one.left === null ? UNKNOWN : leftText(one.left)],
      ["moved", one.moved === null ? UNKNOWN : count(one.moved)],
      ["done in", etaText(one)],
      ["ended", one.endedAt === null ? UNKNOWN : `${instant(one.endedAt)} (${age(one.endedAgeMs)} ago)`],
    ]),
  ].join("");

const leftText = ({
  pinned,
  conversations,
  tokens,
  requests,
  isComplete,
}: NonNullable<OperationView["left"]>): string =>
  [
    `${isComplete ? "" : "at least "}${count(pinned)} pinned of ${count(conversations)}`,
    `${count(tokens)} tokens`,
    requests === null ? "engines do not say what they run" : `${count(requests)} requests in engines`,
  ].join(", ");

const etaText = ({ etaMs, etaBy }: OperationView): string => {
  if (etaMs === null) return UNKNOWN;
  return etaBy === "pace"
    ? `about ${age(etaMs)}, as they left until now`
    : `${age(etaMs)} at the latest, when pins are over`;
};

/** One line for whoever waits; without the time, so that only what changed is told. */
export const progressLine = (one: OperationView): string => {
  const { left, atStart, region } = one;
  if (left === null) return `${region}: ${one.because}`;
  const eta = one.etaMs === null ? "" : `; done in ${one.etaBy === "pace" ? "about" : "at most"} ${age(one.etaMs)}`;
  return `${count(left.pinned)} of ${count(atStart.pinned)} pinned conversations are still in ${region}, ${count(left.tokens)} tokens${eta}`;
};
