/** What the world itself says is not as it should be: regions that are not healthy, and ages that stand still. */
import type { World } from "#gtm/domain/world.ts";
import type { Degradations } from "./degradations.ts";

export const tellDegradations = (world: World, degradations: Pick<Degradations, "set">): void => {
  const unhealthy = world.regions.filter(({ health }) => health !== "healthy");
  const regions = unhealthy.map(
    ({ id, health, reportAgeMs }) => `region ${id} is ${health}${reportAgeMs === null ? ": it has not reported" : ""}`,
  );
  degradations.set("regions", regions.length === 0 ? null : regions.join("; "));
  const isSilenceOurs = world.areAgesFrozen && world.isStoreUp;
  degradations.set(
    "ages",
    isSilenceOurs ? "over half of the regions fell silent at once: their ages stand still" : null,
  );
};
