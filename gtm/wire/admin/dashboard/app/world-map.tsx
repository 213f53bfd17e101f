/** Where the regions stand, and how each is; the table above it says the same and more. */
import type { RegionView } from "#gtm/wire/admin/region-view.ts";
import { hrefOf } from "./place.ts";
import { Empty } from "./state-box.tsx";
import { usePart } from "./use-part.ts";

const outlineOf = () => import("./world-outline.ts");

const toneOf = ({ admin, health, takesNew }: RegionView): string => {
  if (health === "unhealthy" || health === "silent" || admin === "down") return "bad";
  return takesNew && health === "healthy" && admin === "active" ? "good" : "warn";
};

export const WorldMap = ({ regions }: { readonly regions: readonly RegionView[] }) => {
  const { value: outline, hasFailed } = usePart(outlineOf);
  if (hasFailed) return <Empty>The map could not be loaded; the table above says the same and more.</Empty>;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a drawing that holds links; a fieldset cannot be drawn
    <svg class="map" viewBox="0 0 960 460" role="group" aria-label="Map of the regions">
      {outline !== null && (
        <>
          <path class="graticule" d={outline.GRATICULE} />
          <path class="land" d={outline.LAND} />
          {regions.map((region) => (
            <RegionMark key={region.id} region={region} placeOf={outline.placeOf} />
          ))}
        </>
      )}
    </svg>
  );
};

type MarkWish = {
  readonly region: RegionView;
  readonly placeOf: (longitude: number, latitude: number) => readonly [x: number, y: number] | null;
};

const RegionMark = ({ region, placeOf }: MarkWish) => {
  const { location } = region;
  const at = location === null ? null : placeOf(location.longitude, location.latitude);
  if (at === null) return null;
  const [x, y] = at;
  return (
    <a href={hrefOf("regions", region.id)} aria-label={`${region.id}: ${region.health}, ${region.admin}`}>
      <circle class={toneOf(region)} cx={x} cy={y} r="12" />
      <text x={x + 17} y={y + 8}>
        {region.id}
      </text>
    </a>
  );
};
