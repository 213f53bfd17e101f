/** Where the regions stand, and how each is; the table above it says the same and more. */
import { geoGraticule10, geoNaturalEarth1, geoPath } from "d3-geo";
import { feature } from "topojson-client";
import land from "world-atlas/land-110m.json" with { type: "json" };
import type { RegionView } from "#gtm/wire/admin/region-view.ts";
import { hrefOf } from "./place.ts";

const WIDTH = 960;
const HEIGHT = 460;
const projection = geoNaturalEarth1().fitSize([WIDTH, HEIGHT], { type: "Sphere" });
const path = geoPath(projection);
const topology = land as unknown as Parameters<typeof feature>[0];
const outline = topology.objects["land"];
const LAND = outline === undefined ? "" : (path(feature(topology, outline)) ?? "");
const GRATICULE = path(geoGraticule10()) ?? "";

const toneOf = ({ admin, health, takesNew }: RegionView): string => {
  if (health === "unhealthy" || health === "silent" || admin === "down") return "bad";
  return takesNew && health === "healthy" && admin === "active" ? "good" : "warn";
};

export const WorldMap = ({ regions }: { readonly regions: readonly RegionView[] }) => (
  // biome-ignore lint/a11y/useSemanticElements: a drawing that holds links; a fieldset cannot be drawn
  <svg class="map" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="group" aria-label="Map of the regions">
    <path class="graticule" d={GRATICULE} />
    <path class="land" d={LAND} />
    {regions.map((region) => {
      const { location } = region;
      const at = location === null ? null : projection([location.longitude, location.latitude]);
      if (at === null) return null;
      const [x, y] = at;
      return (
        <a
          key={region.id}
          href={hrefOf("regions", region.id)}
          aria-label={`${region.id}: ${region.health}, ${region.admin}`}
        >
          <circle class={toneOf(region)} cx={x} cy={y} r="12" />
          <text x={x + 17} y={y + 8}>
            {region.id}
          </text>
        </a>
      );
    })}
  </svg>
);
