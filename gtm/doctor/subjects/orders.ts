/** What operators have ordered, as the store has it. */
import { unknown } from "#gtm/doctor/finding.ts";
import { orderFindings } from "#gtm/doctor/orders.ts";
import { readOrdersFacts } from "#gtm/doctor/orders-facts.ts";
import type { Subject } from "#gtm/doctor/subject.ts";

export const orders: Subject = {
  name: "orders",
  look: async (context) => {
    const store = await context.store();
    if (typeof store === "string") return [unknown("orders", `What operators ordered is not known: ${store}.`)];
    // What others know comes first: an order given meanwhile is in the store then.
    const [running, worldFile] = await Promise.all([context.running(), context.worldFile()]);
    return orderFindings(await readOrdersFacts(store), {
      gtm: running.kind === "answered" ? running.status.orders.rev : null,
      worldFile: worldFile?.content.kind === "sound" ? worldFile.content.ordersRev : null,
    });
  },
};
