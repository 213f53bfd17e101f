/** One drain: how far it is, when it may be done, how it ended; and how to take it back. */

import { useState } from "preact/hooks";
import type { OperationView } from "#gtm/wire/admin/operation-view.ts";
import { trafficText } from "#gtm/wire/admin/traffic-text.ts";
import { instant } from "../../../quantity-text.ts";
import { call } from "../api.ts";
import { Command } from "../command.tsx";
import { DataTable } from "../data-table.tsx";
import { etaText, OperationChip, OperationProgress } from "../operation-state.tsx";
import { hrefOf } from "../place.ts";
import { age, count } from "../quantity.ts";
import { Refused, WithState } from "../state-box.tsx";
import { useApi } from "../use-api.ts";
import { useAttempt } from "../use-attempt.ts";

const POLL_MS = 2_000;

export const OperationScreen = ({ id }: { readonly id: string }) => {
  const operation = useApi<OperationView>(`/operations/${encodeURIComponent(id)}`, POLL_MS);
  return (
    <>
      <h2>Operation</h2>
      <WithState known={operation} what="operation">
        {(body) => (
          <>
            <p>
              <OperationChip state={body.state} /> {body.mode} of {trafficText(body)}. {body.because}
            </p>
            <p>
              <OperationProgress operation={body} />
            </p>
            <DataTable
              caption="Conversations"
              keyOf={({ when }) => when}
              rows={[
                { when: "when it began", ...body.atStart, requests: null },
                ...(body.left === null ? [] : [{ when: "now", ...body.left }]),
              ]}
              columns={[
                { title: "When", cell: ({ when }) => when },
                { title: "Pinned", isNumber: true, cell: ({ pinned }) => count(pinned) },
                { title: "At home", isNumber: true, cell: ({ conversations }) => count(conversations) },
                { title: "Tokens", isNumber: true, cell: ({ tokens }) => count(tokens) },
                { title: "In engines", isNumber: true, cell: ({ requests }) => count(requests) },
              ]}
            />
            <Facts operation={body} />
            {body.state === "running" && <Cancel operation={body} onDone={operation.again} />}
          </>
        )}
      </WithState>
      <Command words={["operations", "show", id]} />
      <p>
        <a href={hrefOf("operations")}>All operations</a>
      </p>
    </>
  );
};

const Facts = ({ operation }: { readonly operation: OperationView }) => {
  const { startedAt, ageMs, actor, comment, deadlineAt, deadlineInMs, endedAt, endedAgeMs, moved, expiresInMs } =
    operation;
  return (
    <p>
      Began {instant(startedAt)}, {age(ageMs)} ago, by {actor}: {comment}.{" "}
      {deadlineAt === null
        ? "Each conversation leaves at its next turn."
        : `All are free to leave by ${instant(deadlineAt)}, in ${age(deadlineInMs)}.`}{" "}
      {endedAt === null
        ? `Done in ${etaText(operation)}; moved so far: ${count(moved)}.`
        : `Ended ${instant(endedAt)}, ${age(endedAgeMs)} ago.`}
      {expiresInMs !== null && ` Its order ends in ${age(expiresInMs)}.`}
    </p>
  );
};

type CancelWish = { readonly operation: OperationView; readonly onDone: () => void };

const Cancel = ({ operation, onDone }: CancelWish) => {
  const { id, region, etag } = operation;
  const [typed, setTyped] = useState("");
  const { failure, attempt } = useAttempt();
  const cancel = (): Promise<void> =>
    attempt(async () => {
      await call({ method: "POST", path: `/operations/${encodeURIComponent(id)}/cancel`, body: {}, ifMatch: etag });
      onDone();
    });
  return (
    <section class="order" aria-label="Take it back">
      <h3>Take it back</h3>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void cancel();
        }}
      >
        <label>
          <span>
            Type <strong>{region}</strong> to cancel it
          </span>
          <input value={typed} autocomplete="off" onInput={(event) => setTyped(event.currentTarget.value)} />
        </label>
        <button type="submit" class="danger" disabled={typed !== region}>
          Cancel the drain
        </button>
      </form>
      <p class="note">What has moved stays where it is; new conversations come here again.</p>
      <Command words={["operations", "cancel", id]} />
      <Refused failure={failure} />
    </section>
  );
};
