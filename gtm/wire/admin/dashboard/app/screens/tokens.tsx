/** Tokens of the admin API, for admins: who has one, what it may do, until when; given, and taken away. */
import { useState } from "preact/hooks";
import type { TokenRevoked } from "#gtm/wire/admin/routes/tokens.ts";
import type { TokenView } from "#gtm/wire/admin/token-view.ts";
import { call } from "../api.ts";
import { Chip } from "../chip.tsx";
import { Command } from "../command.tsx";
import { DataTable } from "../data-table.tsx";
import { age } from "../quantity.ts";
import { limitsOf } from "../session.tsx";
import { Empty, Refused, WithState } from "../state-box.tsx";
import { TokenForm } from "../token-form.tsx";
import { useApi } from "../use-api.ts";
import { useAttempt } from "../use-attempt.ts";

const POLL_MS = 5_000;

export const TokensScreen = () => {
  const tokens = useApi<{ readonly items: readonly TokenView[] }>("/tokens?limit=500", POLL_MS);
  const [revoking, setRevoking] = useState<TokenView | null>(null);
  const done = (): void => {
    setRevoking(null);
    tokens.again();
  };
  return (
    <>
      <h2>Tokens</h2>
      <WithState known={tokens} what="list of tokens">
        {({ items }) => (
          <>
            {items.length === 0 ? (
              <Empty>Nobody has a token.</Empty>
            ) : (
              <DataTable
                caption="Who may use this API: the newest first, then those of the tokens file"
                rows={items}
                keyOf={({ id }) => id}
                columns={[
                  { title: "Name", cell: ({ name }) => <span class="word">{name}</span> },
                  { title: "Role", cell: ({ role }) => <span class="word">{role}</span> },
                  { title: "Limited to", cell: (one) => limitsOf(one) || "nothing" },
                  { title: "State", cell: (one) => <State token={one} /> },
                  {
                    title: "Left",
                    isNumber: true,
                    cell: ({ expiresInMs }) => (expiresInMs === null ? "no end" : age(expiresInMs)),
                  },
                  { title: "Used", isNumber: true, cell: ({ lastUsedMsAgo }) => ago(lastUsedMsAgo) },
                  {
                    title: "Made",
                    isNumber: true,
                    cell: ({ createdMsAgo }) => (createdMsAgo === null ? "\u2013" : ago(createdMsAgo)),
                  },
                  { title: "By", cell: ({ createdBy }) => createdBy ?? "the file" },
                  { title: "Why", cell: ({ comment }) => comment ?? "\u2013" },
                  {
                    title: "Id",
                    cell: (one) => (
                      <>
                        <code class="word">{one.id}</code>{" "}
                        {one.source === "api" && one.state === "active" && (
                          <button
                            type="button"
                            class="small"
                            onClick={() => setRevoking(one)}
                            aria-label={`Revoke ${one.name}`}
                          >
                            Revoke
                          </button>
                        )}
                      </>
                    ),
                  },
                ]}
              />
            )}
            {revoking !== null && (
              <Revoke key={revoking.id} token={revoking} onDone={done} onLeave={() => setRevoking(null)} />
            )}
            <Command words={["token", "list"]} />
            <TokenForm onDone={tokens.again} />
          </>
        )}
      </WithState>
    </>
  );
};

const ago = (ms: number | null): string => (ms === null ? "never" : `${age(ms)} ago`);

const State = ({ token }: { readonly token: TokenView }) => (
  <Chip tone={token.state === "active" ? "good" : "quiet"}>
    {token.state === "revoked" ? `revoked by ${token.revokedBy ?? "somebody"}` : token.state}
  </Chip>
);

type RevokeWish = { readonly token: TokenView; readonly onDone: () => void; readonly onLeave: () => void };

const Revoke = ({ token, onDone, onLeave }: RevokeWish) => {
  const [typed, setTyped] = useState("");
  const [isDeep, setIsDeep] = useState(false);
  const { failure, attempt } = useAttempt();
  const revoke = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const path = `/tokens/${encodeURIComponent(token.id)}${isDeep ? "?with_made=true" : ""}`;
    await attempt(async () => {
      await call<TokenRevoked>({ method: "DELETE", path, ifMatch: token.etag });
      onDone();
    });
  };
  return (
    <section class="order plan" aria-label={`Revoke the token ${token.name}`}>
      <h3>Revoke {token.name}</h3>
      <p>
        It opens nothing any more at this GTM, and within a second at every other. It was used{" "}
        {ago(token.lastUsedMsAgo)}.
      </p>
      <Refused failure={failure} />
      <Command words={["token", "revoke", token.id, ...(isDeep ? ["--with-made"] : [])]} />
      <form onSubmit={(event) => void revoke(event)}>
        <label class="tick">
          <span>Tokens that were made with it, too</span>
          <input type="checkbox" checked={isDeep} onChange={(event) => setIsDeep(event.currentTarget.checked)} />
        </label>
        <label>
          <span>
            Type <strong>{token.name}</strong> to revoke it
          </span>
          <input value={typed} autocomplete="off" onInput={(event) => setTyped(event.currentTarget.value)} />
        </label>
        <button type="submit" class="danger" disabled={typed !== token.name}>
          Revoke
        </button>
        <button type="button" onClick={onLeave}>
          Leave it
        </button>
      </form>
    </section>
  );
};
