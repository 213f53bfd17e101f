/** One decision: in a paragraph, in bars, and what would have turned it. */
import type { DecisionSchema } from "#gtm/wire/admin/decision-schema.ts";
import { Command } from "../command.tsx";
import { DecisionText } from "../decision-text.tsx";
import { WithState } from "../state-box.tsx";
import { useApi } from "../use-api.ts";

export const DecisionScreen = ({ id }: { readonly id: string }) => {
  const decision = useApi<DecisionSchema>(`/decisions/${encodeURIComponent(id)}`, null);
  return (
    <>
      <h2>Decision {id}</h2>
      <WithState known={decision} what="decision">
        {(body) => <DecisionText decision={body} />}
      </WithState>
      <Command words={["decisions", "show", id]} />
    </>
  );
};
