/** NVIDIA Dynamo: the front end's page, and the page of a worker whose engine's own names are not on it. */
import type { Page } from "../exposition.ts";
import { frontEndMeasured, workerMeasured } from "./dynamo-measured.ts";
import { FRONT_END, WORKER } from "./dynamo-names.ts";
import { type Engine, type FieldNames, ONE_PAGE } from "./engine.ts";
import { type LabelledPage, readLabelledPage } from "./labelled-page.ts";
import { unmeasuredReading } from "./model-reading.ts";

export const dynamo: Engine = {
  ...ONE_PAGE,
  name: "dynamo",
  names: Object.fromEntries([...Object.values(FRONT_END), ...Object.values(WORKER)].map((names) => [names[0], names])),
  recognises: (names) => names.some((name) => name.startsWith("dynamo_")),
  // The front end says "nvidia", as others do.
  owner: null,
  read: ({ page, models }) =>
    page === null
      ? unmeasuredReading("dynamo", models)
      : readLabelledPage({ engine: "dynamo", page, models, ...partOf(page) }),
};

const FRONT_END_REQUIRED = [
  FRONT_END.requestsInFlight,
  FRONT_END.requestsWaiting,
  ["dynamo_frontend_time_to_first_token_seconds_count"],
];
const WORKER_REQUIRED = [WORKER.requestsRunning, WORKER.kvTotalBlocks];

const partOf = (page: Page): Pick<LabelledPage, "label" | "required" | "labelled" | "measure"> => {
  const isFrontEnd = [...page.samples.keys()].some((name) => name.startsWith("dynamo_frontend_"));
  const required = isFrontEnd ? FRONT_END_REQUIRED : WORKER_REQUIRED;
  const names: FieldNames = isFrontEnd ? FRONT_END : WORKER;
  return {
    label: "model",
    required,
    labelled: [...required.flat(), ...Object.values(names).flat()],
    measure: isFrontEnd ? frontEndMeasured : workerMeasured,
  };
};
