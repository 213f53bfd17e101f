/** The zone: which names are answered and how, what to paste at the parent, and a look at what it holds. */
import { useState } from "preact/hooks";
import type { DelegationView, ZoneView } from "#gtm/wire/admin/routes/zones.ts";
import type { ZoneRecordView } from "#gtm/wire/admin/zone-records.ts";
import { ApiError, call } from "../api.ts";
import { Command } from "../command.tsx";
import { CopyButton } from "../copy-button.tsx";
import { DataTable } from "../data-table.tsx";
import { FaultList } from "../fault-list.tsx";
import { hrefOf, type Place } from "../place.ts";
import { age, count } from "../quantity.ts";
import { Empty, WithState } from "../state-box.tsx";
import { useApi } from "../use-api.ts";

const POLL_MS = 5_000;
const MOST_RECORDS = 500;

export const ZonesScreen = ({ place }: { readonly place: Place }) => {
  const zones = useApi<{ readonly items: readonly ZoneView[] }>("/zones", POLL_MS);
  return (
    <>
      <h2>Zones and delegation</h2>
      <WithState known={zones} what="list of zones">
        {({ items }) =>
          items.length === 0 ? (
            <Empty>This GTM answers no zone.</Empty>
          ) : (
            items.map((zone) => <Zone key={zone.name} zone={zone} kind={place.filters.get("kind") ?? ""} />)
          )
        }
      </WithState>
    </>
  );
};

const Zone = ({ zone, kind }: { readonly zone: ZoneView; readonly kind: string }) => (
  <>
    <p>
      <strong>{zone.name}</strong>, serial {zone.serial}, {zone.rname}. Name servers:{" "}
      {zone.nameServers.map(({ name, ipv4, ipv6 }) => `${name} (${[...ipv4, ...ipv6].join(", ")})`).join(", ")}. What is
      steered is kept for {zone.ttls.steady} s, {zone.ttls.unsettled} s while something is about to change.
    </p>
    <Delegation zone={zone.name} />
    <Records zone={zone} kind={kind} />
  </>
);

const Delegation = ({ zone }: { readonly zone: string }) => {
  const path = `/zones/${encodeURIComponent(zone)}/delegation`;
  const delegation = useApi<DelegationView>(path, POLL_MS);
  const [state, setState] = useState<{ readonly isAsking: boolean; readonly failure: string }>({
    isAsking: false,
    failure: "",
  });
  const check = async (): Promise<void> => {
    setState({ isAsking: true, failure: "" });
    try {
      await call({ method: "POST", path: `${path}/check`, body: {} });
      setState({ isAsking: false, failure: "" });
    } catch (cause) {
      if (!(cause instanceof ApiError)) throw cause;
      setState({ isAsking: false, failure: cause.failure.detail });
    }
    delegation.again();
  };
  return (
    <section>
      <h3>Delegation</h3>
      <WithState known={delegation} what="delegation">
        {(body) => {
          const isChecking = state.isAsking || body.isChecking;
          return (
            <>
              <p>
                <button type="button" disabled={isChecking} onClick={() => void check()}>
                  {isChecking ? "Asking the parent's servers and ours…" : "Check it now"}
                </button>{" "}
                {body.check === null
                  ? "Nobody has checked it since this GTM started."
                  : `Last checked ${age(body.check.ageMs)} ago, in ${age(body.check.tookMs)}.`}
              </p>
              {state.failure !== "" && (
                <p class="box bad" role="alert">
                  {state.failure}
                </p>
              )}
              {body.check !== null && <FaultList faults={body.check.findings} label="What the check found" />}
              <Command words={["zones", "delegation", "--check"]} />
              <Lines forms={body.forms} />
            </>
          );
        }}
      </WithState>
    </section>
  );
};

const Lines = ({ forms }: Pick<DelegationView, "forms">) => (
  <>
    <h3>What to paste at the parent zone</h3>
    {forms.map(({ name, title, how, text }, at) => (
      <details key={name} open={at === 0}>
        <summary>{title}</summary>
        <p>{how}</p>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
        <section class="scroll" tabIndex={0} aria-label={title}>
          <pre class="paste">{text}</pre>
        </section>
        <p>
          <CopyButton text={text} label={title} />
        </p>
        <Command words={["zones", "delegation", "--form", name]} />
      </details>
    ))}
  </>
);

const Records = ({ zone, kind }: { readonly zone: ZoneView; readonly kind: string }) => {
  const filter = kind === "" ? "" : `&kind=${encodeURIComponent(kind)}`;
  const records = useApi<{ readonly items: readonly ZoneRecordView[]; readonly next_cursor: string | null }>(
    `/zones/${encodeURIComponent(zone.name)}/records?limit=${MOST_RECORDS}${filter}`,
    POLL_MS,
  );
  const kinds = Object.entries(zone.records);
  return (
    <section>
      <h3>Names that are answered</h3>
      <p class="filters">
        <a href={hrefOf("zones")} aria-current={kind === "" ? "true" : undefined}>
          all {count(kinds.reduce((sum, [, sets]) => sum + sets, 0))}
        </a>{" "}
        {kinds.map(([one, sets]) => (
          <a key={one} href={hrefOf("zones", "", { kind: one })} aria-current={kind === one ? "true" : undefined}>
            {one} {count(sets)}
          </a>
        ))}
      </p>
      <WithState known={records} what="list of names">
        {({ items, next_cursor }) => (
          <>
            {items.length === 0 ? (
              <Empty>No name is of this kind.</Empty>
            ) : (
              <DataTable
                caption={`Names of ${zone.name}`}
                rows={items}
                keyOf={({ name, type, kind: of }) => `${name} ${type} ${of}`}
                columns={[
                  { title: "Name", cell: ({ name }) => name },
                  { title: "Kind", cell: ({ kind: of }) => of },
                  { title: "Type", cell: ({ type }) => type },
                  {
                    title: "TTL",
                    isNumber: true,
                    cell: ({ ttlSeconds }) => (ttlSeconds === null ? "decided" : `${ttlSeconds} s`),
                  },
                  { title: "Answer", cell: (record) => <Answer record={record} /> },
                ]}
              />
            )}
            {next_cursor !== null && <p class="box stale">There are more: the command line pages.</p>}
          </>
        )}
      </WithState>
      <Command words={kind === "" ? ["zones", "records"] : ["zones", "records", "--kind", kind]} />
    </section>
  );
};

const Answer = ({ record: { values, how, present } }: { readonly record: ZoneRecordView }) => {
  if (present === null) {
    return (
      <div class="value">
        {values.join(", ")} {how !== null && <span class="quiet">{how}</span>}
      </div>
    );
  }
  const byRegion = [...Map.groupBy(present, ({ region }) => region)];
  return (
    <div class="value">
      <span class="quiet">{how}</span>
      {byRegion.map(([region, ones]) => (
        <div key={region ?? ""}>
          from {ones.map(({ from }) => from).join(", ")}:{" "}
          {region === null ? "the last resort" : <a href={hrefOf("regions", region)}>{region}</a>}{" "}
          {ones[0]?.values.join(", ")}
        </div>
      ))}
    </div>
  );
};
