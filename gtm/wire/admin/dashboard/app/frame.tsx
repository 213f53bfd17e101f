/** Around every screen: which GTM this is, how it is, whether it still answers, and the way to the others. */
import type { Status } from "#gtm/wire/admin/routes/status.ts";
import { Chip } from "./chip.tsx";
import { hrefOf, type Place, usePlace } from "./place.ts";
import { age } from "./quantity.ts";
import { AgentsScreen } from "./screens/agents.tsx";
import { AuditScreen } from "./screens/audit.tsx";
import { ConfigurationScreen } from "./screens/configuration.tsx";
import { ConversationScreen } from "./screens/conversation.tsx";
import { ConversationsScreen } from "./screens/conversations.tsx";
import { DecisionScreen } from "./screens/decision.tsx";
import { DecisionsScreen } from "./screens/decisions.tsx";
import { ExplainScreen } from "./screens/explain.tsx";
import { InstancesScreen } from "./screens/instances.tsx";
import { ModelsScreen } from "./screens/models.tsx";
import { OperationScreen } from "./screens/operation.tsx";
import { OperationsScreen } from "./screens/operations.tsx";
import { OverridesScreen } from "./screens/overrides.tsx";
import { OverviewScreen } from "./screens/overview.tsx";
import { PlacementsScreen } from "./screens/placements.tsx";
import { ReferenceScreen } from "./screens/reference.tsx";
import { RegionScreen } from "./screens/region.tsx";
import { TokensScreen } from "./screens/tokens.tsx";
import { WhatIfScreen } from "./screens/what-if.tsx";
import { ZonesScreen } from "./screens/zones.tsx";
import { Session, SignIn, useWhoAmI } from "./session.tsx";
import { Empty } from "./state-box.tsx";
import { type Known, useApi } from "./use-api.ts";
import { useNow } from "./use-now.ts";

const SCREENS: readonly (readonly [screen: string, title: string])[] = [
  ["", "Overview"],
  ["placements", "Placements"],
  ["models", "Models"],
  ["agents", "Agents"],
  ["conversations", "Conversations"],
  ["decisions", "Decisions"],
  ["explain", "Explain"],
  ["what-if", "What if"],
  ["overrides", "Overrides"],
  ["operations", "Operations"],
  ["zones", "Zones"],
  ["audit", "Audit"],
  ["tokens", "Tokens"],
  ["configuration", "Configuration"],
  ["instances", "Instances"],
];
/** Of screens that are not in the list: where they belong. */
const BELONGS: Readonly<Record<string, string>> = { regions: "", decision: "decisions" };

const STATUS_MS = 2_000;

export const Frame = () => {
  const place = usePlace();
  const status = useApi<Status>("/status", STATUS_MS);
  const who = useWhoAmI();
  const here = BELONGS[place.screen] ?? place.screen;
  const nobody = status.failure?.kind === "nobody" ? status.failure.detail : null;
  // Who may not hand out tokens is not led to them.
  const screens = SCREENS.filter(([screen]) => screen !== "tokens" || who?.role === "admin");
  return (
    <>
      <a class="skip" href="#main">
        To the content
      </a>
      <header>
        <h1>
          <a href={hrefOf("")}>llm-gtm</a> <span class="instance">{status.body?.instance ?? ""}</span>
        </h1>
        <Connection status={status} />
        {nobody === null && <Session who={who} />}
        <nav aria-label="Screens">
          <ul>
            {screens.map(([screen, title]) => (
              <li key={screen}>
                <a href={hrefOf(screen)} aria-current={screen === here ? "page" : undefined}>
                  {title}
                </a>
              </li>
            ))}
          </ul>
        </nav>
      </header>
      <main id="main" tabIndex={-1}>
        {nobody === null ? <Screen place={place} status={status} /> : <SignIn detail={nobody} />}
      </main>
      <footer>
        <p>
          llm-gtm {status.body?.version ?? ""} · map: Natural Earth · all of this is in the{" "}
          <a href={hrefOf("reference")}>admin API</a> and on the command line
        </p>
      </footer>
    </>
  );
};

const Connection = ({ status }: { readonly status: Known<Status> }) => {
  const nowMs = useNow();
  const { body, atMs, failure } = status;
  if (failure?.kind === "nobody") return <Chip tone="quiet">signed out</Chip>;
  if (failure !== null && failure.kind !== "forbidden") {
    return <Chip tone="bad">no answer{atMs === null ? "" : ` for ${age(nowMs - atMs)}`}</Chip>;
  }
  if (body === null) return <Chip tone="quiet">connecting</Chip>;
  const tone = body.state === "ready" ? "good" : body.state === "degraded" ? "warn" : "bad";
  return (
    <Chip tone={tone}>
      {body.state}, world {age(body.world.ageMs)} old{body.isStoreUp ? "" : ", store away"}
    </Chip>
  );
};

const Screen = ({ place, status }: { readonly place: Place; readonly status: Known<Status> }) => {
  switch (place.screen) {
    case "":
      return <OverviewScreen status={status} />;
    case "regions":
      return <RegionScreen key={place.subject} id={place.subject} />;
    case "models":
      return <ModelsScreen place={place} />;
    case "agents":
      return <AgentsScreen place={place} />;
    case "zones":
      return <ZonesScreen place={place} />;
    case "placements":
      return <PlacementsScreen />;
    case "conversations":
      return place.subject === "" ? (
        <ConversationsScreen place={place} />
      ) : (
        <ConversationScreen key={place.subject} label={place.subject} />
      );
    case "decisions":
      return <DecisionsScreen place={place} />;
    case "decision":
      return <DecisionScreen key={place.subject} id={place.subject} />;
    case "explain":
      return <ExplainScreen place={place} />;
    case "what-if":
      return <WhatIfScreen place={place} />;
    case "operations":
      return place.subject === "" ? <OperationsScreen /> : <OperationScreen key={place.subject} id={place.subject} />;
    case "configuration":
      return <ConfigurationScreen section={place.subject} />;
    case "overrides":
      return <OverridesScreen />;
    case "tokens":
      return <TokensScreen />;
    case "audit":
      return <AuditScreen />;
    case "instances":
      return <InstancesScreen />;
    case "reference":
      return <ReferenceScreen key={place.subject} id={place.subject} />;
    default:
      return <Empty>There is no screen called {place.screen}. The names above lead to those there are.</Empty>;
  }
};
