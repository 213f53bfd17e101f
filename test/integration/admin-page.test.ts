/** The page, as a browser is given it: whole, small, compressed, and nothing from outside. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { makeBundle } from "#gtm/wire/admin/dashboard/bundle.ts";
import { runningAdmin, tokensFile } from "#test/unit/gtm/wire/admin/running-admin.ts";

const PATHS = ["/", "/main.js", "/main.css", "/icon.svg"];
const MOST_OCTETS = 120 * 1_024;

/** As it comes, compressed or not: fetch would undo it. */
const raw = async (url: string, headers: Record<string, string>) => {
  const { request } = await import("node:http");
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; octets: Buffer }>((resolve, reject) => {
    request(url, { headers }, async (response) => {
      const octets = Buffer.concat(await response.toArray());
      resolve({ status: response.statusCode ?? 0, headers: response.headers, octets });
    })
      .on("error", reject)
      .end();
  });
};

describe("the page", () => {
  it("is given to whoever asks, and keeps everything from outside away", async () => {
    await using tokens = await tokensFile();
    await using admin = await runningAdmin({ tokensFile: tokens.path });
    for (const path of PATHS) {
      const { status, headers } = await raw(`${admin.url}${path}`, {});
      assert.equal(status, 200, path);
      assert.match(String(headers["content-security-policy"]), /^default-src 'self'; frame-ancestors 'none'/);
      assert.equal(headers["x-content-type-options"], "nosniff");
    }
    const html = (await raw(admin.url, {})).octets.toString();
    assert.deepEqual([...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, to]) => to).sort(), [
      "/icon.svg",
      "/main.css",
      "/main.js",
    ]);
    assert.doesNotMatch(html, /<script>|<style|style=/);
  });

  it("comes compressed as the browser takes it, and is the same then", async () => {
    await using admin = await runningAdmin();
    const url = `${admin.url}/main.js`;
    const plain = await raw(url, {});
    const brotli = await raw(url, { "accept-encoding": "gzip, deflate, br" });
    const gzip = await raw(url, { "accept-encoding": "gzip" });
    assert.deepEqual([brotli.headers["content-encoding"], gzip.headers["content-encoding"]], ["br", "gzip"]);
    assert.ok(brotliDecompressSync(brotli.octets).equals(plain.octets));
    assert.ok(gunzipSync(gzip.octets).equals(plain.octets));
  });

  it("is asked for again only by its ETag", async () => {
    await using admin = await runningAdmin();
    const { headers } = await raw(`${admin.url}/main.css`, {});
    const again = await raw(`${admin.url}/main.css`, { "if-none-match": String(headers["etag"]) });
    assert.deepEqual([again.status, again.octets.length], [304, 0]);
    assert.equal(headers["cache-control"], "no-cache");
  });

  it("has its drawings in parts, which are fetched when they are drawn and kept for good", async () => {
    await using admin = await runningAdmin();
    const bundle = await makeBundle();
    const parts = [...bundle.keys()].filter((path) => path.startsWith("/parts/"));
    assert.deepEqual(parts.map((path) => path.replace(/-\w+\.js$/, "")).sort(), [
      "/parts/uPlot.esm",
      "/parts/world-outline",
    ]);
    for (const path of parts) {
      const { status, headers } = await raw(`${admin.url}${path}`, {});
      assert.equal(status, 200, path);
      assert.equal(headers["content-type"], "text/javascript; charset=utf-8");
      assert.equal(headers["cache-control"], "public, max-age=31536000, immutable");
    }
    assert.equal((await raw(`${admin.url}/parts/uPlot.esm-OLD.js`, {})).status, 404);
    const first = [...bundle].filter(([path]) => !path.startsWith("/parts/"));
    const octets = first.reduce((sum, [, { gzip }]) => sum + gzip.length, 0);
    assert.ok(octets < 50_000, `${octets} octets before anything is drawn`);
  });

  it("is under 120 KB in all, compressed", async () => {
    const bundle = await makeBundle();
    const octets = [...bundle.values()].reduce((sum, { gzip }) => sum + gzip.length, 0);
    assert.ok(octets < MOST_OCTETS, `${octets} octets by gzip`);
  });

  it("says in the log why it could not be made, and is tried again", async () => {
    const { createPage } = await import("#gtm/wire/admin/dashboard/assets.ts");
    const { recordingLog } = await import("#test/support/recording-log.ts");
    const { OpenAPIHono } = await import("@hono/zod-openapi");
    const log = recordingLog();
    let attempts = 0;
    const page = createPage(log, async () => {
      attempts += 1;
      if (attempts === 1) throw new Error("no room");
      return makeBundle();
    });
    const app = new OpenAPIHono<import("#gtm/wire/admin/environment.ts").Env>();
    app.get("/", page);
    assert.equal((await app.request("/")).status, 500);
    assert.deepEqual([log.lines[0]?.event, log.lines[0]?.fields], ["admin.page-failed", { fault: "Error: no room" }]);
    assert.equal((await app.request("/")).status, 200);
  });
});
