/** Everything that the doctor looks at, in the order of reading. */
import type { Subject } from "./subject.ts";
import { agents } from "./subjects/agents.ts";
import { certificates } from "./subjects/certificates.ts";
import { clocks } from "./subjects/clocks.ts";
import { dns } from "./subjects/dns.ts";
import { geography } from "./subjects/geography.ts";
import { instances } from "./subjects/instances.ts";
import { keys } from "./subjects/keys.ts";
import { listeners } from "./subjects/listeners.ts";
import { orders } from "./subjects/orders.ts";
import { placements } from "./subjects/placements.ts";
import { running } from "./subjects/running.ts";
import { store } from "./subjects/store.ts";
import { worldFile } from "./subjects/world-file.ts";

export const SUBJECTS: readonly Subject[] = [
  store,
  clocks,
  agents,
  placements,
  instances,
  orders,
  keys,
  certificates,
  worldFile,
  geography,
  dns,
  listeners,
  running,
];
