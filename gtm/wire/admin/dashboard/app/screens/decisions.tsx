/** Decisions as they are made, with a filter for those that were close. */
import { useMemo, useState } from "preact/hooks";
import type { DecisionSchema } from "#gtm/wire/admin/decision-schema.ts";
import { Chip, VerdictChip } from "../chip.tsx";
import { Command } from "../command.tsx";
import { TOLD_PER_SECOND, useLiveDecisions } from "../live-decisions.ts";
import type { Unseen } from "../live-window.ts";
import { hrefOf, type Place } from "../place.ts";
import { clockTime, count, milliseconds } from "../quantity.ts";
import { Empty, Forbidden } from "../state-box.tsx";
import { useApi } from "../use-api.ts";
import { type WindowColumn, WindowTable } from "../window-table.tsx";

const SHOWN = 60;
const FILTERS = ["pool", "region", "verdict", "channel", "conversation"] as const;

/** Nobody led by as much as a conversation must save to move. */
const isClose = ({ verdict, marginMs }: DecisionSchema): boolean =>
  verdict.leadMs !== null && verdict.leadMs < marginMs;

const COLUMNS: readonly WindowColumn<DecisionSchema>[] = [
  { title: "At", width: 9, cell: ({ at }) => clockTime(at) },
  { title: "Verdict", width: 11, cell: ({ verdict }) => <VerdictChip kind={verdict.kind} /> },
  { title: "Region", width: 13, cell: ({ verdict }) => verdict.region ?? "none" },
  { title: "Led by", width: 9, isNumber: true, cell: ({ verdict }) => milliseconds(verdict.leadMs) },
  { title: "Runner-up", width: 13, cell: ({ verdict }) => verdict.runnerUp ?? "none" },
  { title: "Channel", width: 10, cell: ({ channel, kind }) => `${channel} ${kind}` },
  { title: "Pool", width: 9, cell: ({ pool }) => pool },
  { title: "Client", width: 12, cell: ({ client }) => client.place ?? client.area ?? client.subnet },
  { title: "Answered", width: 8, isNumber: true, cell: ({ answered }) => count(answered) },
  { title: "Why", width: 6, cell: ({ id }) => <a href={hrefOf("decision", id)}>why</a> },
];

/** What was decided and is not below: a list that seems whole and is not would mislead. */
const NotSeen = ({ unseen: { skipped, paused, gaps, perSecond } }: { readonly unseen: Unseen }) => {
  const now = perSecond === null ? "" : ` (now ${count(perSecond)}/s, ${TOLD_PER_SECOND} shown)`;
  const said = [
    ...(skipped > 0 ? [`${count(skipped)} came faster than the ${TOLD_PER_SECOND} a second that are told${now}`] : []),
    ...(paused > 0 ? [`${count(paused)} came while you had paused`] : []),
    ...(gaps > 0 ? ["some came while this GTM was away or the page was hidden, and are no longer kept"] : []),
  ];
  return said.length === 0 ? null : <p class="note">Not shown: {said.join("; ")}.</p>;
};

export const DecisionsScreen = ({ place }: { readonly place: Place }) => {
  const filters = FILTERS.flatMap((name) => {
    const value = place.filters.get(name) ?? "";
    return value === "" ? [] : [[name, value] as const];
  });
  const onlyClose = place.filters.get("close") === "yes";
  const query = new URLSearchParams(filters.map(([name, value]) => [name, value])).toString();
  const [isPaused, setIsPaused] = useState(false);
  // The GTM looks for close ones itself: of those that come too fast to be told they would be missing here.
  const live = useLiveDecisions(onlyClose ? `${query}${query === "" ? "" : "&"}close=true` : query, isPaused);
  const earlier = useApi<{ readonly items: readonly DecisionSchema[] }>(
    `/decisions?limit=${SHOWN}${query === "" ? "" : `&${query}`}`,
    null,
  );
  const shown = useMemo(() => {
    const seen = new Set<string>();
    const all = [...live.decisions, ...(earlier.body?.items ?? [])].filter(
      (one) => !seen.has(one.id) && seen.add(one.id),
    );
    return all.filter((one) => !onlyClose || isClose(one)).slice(0, SHOWN);
  }, [live.decisions, earlier.body, onlyClose]);
  if (live.failure?.kind === "forbidden") return <Forbidden detail={live.failure.detail} />;
  const all = Object.fromEntries(filters);
  return (
    <>
      <h2>Decisions</h2>
      <p class="filters">
        <Chip tone={live.isOpen && !isPaused ? "good" : "quiet"}>
          {isPaused ? "paused" : live.isOpen ? "live" : "connecting"}
        </Chip>{" "}
        <button type="button" aria-pressed={isPaused} onClick={() => setIsPaused(!isPaused)}>
          {isPaused ? "Go on" : "Pause"}
        </button>{" "}
        <a href={hrefOf("decisions", "", { ...all, close: onlyClose ? "" : "yes" })}>
          {onlyClose ? "all" : "only close ones"}
        </a>
        {filters.map(([name, value]) => (
          <span key={name}>
            {" "}
            · {name} {value}{" "}
            <a href={hrefOf("decisions", "", { ...all, [name]: "" })} aria-label={`No longer only ${name} ${value}`}>
              ×
            </a>
          </span>
        ))}
      </p>
      <NotSeen unseen={live.unseen} />
      {shown.length === 0 ? (
        <Empty>Nothing matches among the latest decisions of this instance.</Empty>
      ) : (
        <WindowTable caption={`The newest ${SHOWN} that match`} rows={shown} keyOf={({ id }) => id} columns={COLUMNS} />
      )}
      <Command words={["decisions", "tail", ...filters.flatMap(([name, value]) => [`--${name}`, value])]} />
    </>
  );
};
