/** `gtm serve` with two threads for DNS, as the process that operators run: told through its API, read through its metrics. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openUdp, queryOctets, readReply, subnetOption } from "#test/support/dns-client.ts";
import { houseYaml } from "#test/support/house.ts";
import { startProgram } from "#test/support/running-program.ts";
import { until } from "#test/support/until.ts";

const CLIENTS = 32;

describe("gtm serve with dns.workers: 2", () => {
  it("has both threads hear of a drain, counts what both answer, tells of it in /metrics, and ends with all answered", async () => {
    const config = JSON.parse(houseYaml(() => "http://127.0.3.9:1", { regions: { probe: null } }));
    const settings = { ...config, dns: { ...config.dns, workers: 2 } };
    await using gtm = await startProgram("gtm/main.ts", "serve", settings);
    const [listening] = gtm.said("dns.listening");
    const at = { address: String(listening?.["address"]), port: Number(listening?.["port"]) };
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => openUdp(at)));
    const ask = async (): Promise<string> => {
      const options = subnetOption(1, 24, [192, 0, 2]);
      const query = queryOctets({ name: "chat.llm.test", opt: { options } });
      const replies = await Promise.all(clients.map((client) => client.ask(query)));
      return [...new Set(replies.map((one) => readReply(one).data.join()))].join(" or ");
    };
    const near = await ask();
    assert.match(near, /^127\.0\.3\.[12]$/, "all say the same");
    const region = near === "127.0.3.1" ? "eu-central" : "us-east";
    const drained = await fetch(`${gtm.url("admin")}/api/v1/regions/${region}/drain`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ mode: "drain-all", comment: "a test" }),
    });
    assert.equal(drained.status, 200);
    await until(async () => (await ask()) === (near === "127.0.3.1" ? "127.0.3.2" : "127.0.3.1"), "both threads left");
    for (const worker of ["0", "1"]) {
      await until(async () => (await gtm.metric("gtm_dns_worker_answers_total", { worker })) > 0);
    }
    const labels = { proto: "udp", qtype: "A", rcode: "NOERROR" };
    await until(async () => (await gtm.metric("gtm_dns_queries_total", labels)) % CLIENTS === 0, "none is missing");
    assert.equal(await gtm.metric("gtm_dns_workers"), 2);
    assert.equal(await gtm.metric("gtm_dns_worker_disagreements_total"), 0);
    for (const client of clients) await client[Symbol.asyncDispose]();
    process.kill(gtm.pid, "SIGTERM");
    await until(() => gtm.said("process.stopped").length > 0);
  });
});
