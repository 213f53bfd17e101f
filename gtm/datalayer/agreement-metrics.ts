/** How many GTMs are seen, and how far each agrees, as metrics. */
import type { InstanceId } from "#shared/ids.ts";
import type { Metrics } from "#shared/metrics.ts";

/** More instances than labels of a metric should have. */
const MOST_LABELLED = 64;

type Seen = {
  readonly id: InstanceId;
  readonly configDiffers: readonly unknown[];
  readonly disagreements: readonly unknown[];
};

/** @returns tells of all others as they are now; a series ends with its instance */
export const createAgreementMetrics = (metrics: Metrics): ((others: readonly Seen[]) => void) => {
  const labelled = new Set<InstanceId>();
  const seen = metrics.gauge({
    name: "gtm_instances",
    help: "GTMs seen on the store within the last 5 s, this one included.",
  });
  const disagreements = metrics.gauge({
    name: "gtm_instance_disagreements",
    help: "Questions that all GTMs ask themselves and that this one has answered otherwise for over 2 s, on the same state.",
    labels: ["instance"],
  });
  const differs = metrics.gauge({
    name: "gtm_instance_config_differs",
    help: "Parts of that instance's configuration that are not as here.",
    labels: ["instance"],
  });
  return (others) => {
    seen.set(others.length + 1);
    const shown = others.slice(0, MOST_LABELLED);
    for (const instance of labelled) {
      if (shown.some(({ id }) => id === instance)) continue;
      labelled.delete(instance);
      for (const gauge of [disagreements, differs]) gauge.remove({ instance });
    }
    for (const { id, configDiffers, disagreements: those } of shown) {
      labelled.add(id);
      disagreements.set(those.length, { instance: id });
      differs.set(configDiffers.length, { instance: id });
    }
  };
};
