/** The world as lines of a drawing; loaded when a map is drawn, since it is a third of all that the page is made of. */
import { geoGraticule10, geoNaturalEarth1, geoPath } from "d3-geo";
import { feature } from "topojson-client";
import land from "world-atlas/land-110m.json" with { type: "json" };

/** As the map's view box has it. */
const WIDTH = 960;
const HEIGHT = 460;

const projection = geoNaturalEarth1().fitSize([WIDTH, HEIGHT], { type: "Sphere" });
const path = geoPath(projection);
const topology = land as unknown as Parameters<typeof feature>[0];
const outline = topology.objects["land"];

export const LAND = outline === undefined ? "" : (path(feature(topology, outline)) ?? "");
export const GRATICULE = path(geoGraticule10()) ?? "";

/** @returns null: not on the map */
export const placeOf = (longitude: number, latitude: number): readonly [x: number, y: number] | null =>
  projection([longitude, latitude]);
