/** NOTICE says whose work is passed on with this product, under which licence. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";

const notice = readFileSync("NOTICE", "utf8");
const lock = JSON.parse(readFileSync("package-lock.json", "utf8"));

type Locked = { readonly dev?: boolean; readonly optional?: boolean; readonly license?: string };

/** What `npm ci --omit=dev --omit=optional` installs, as in the image: folder and licence. */
const shipped = Object.entries<Locked>(lock.packages)
  .filter(([folder, { dev, optional }]) => folder !== "" && dev !== true && optional !== true)
  .map(([folder, { license }]) => ({ folder, name: folder.replace(/^.*node_modules\//, ""), license }));

describe("NOTICE", () => {
  it("gives the attribution that MaxMind asks for", () => {
    const words = notice.replaceAll(/\s+/g, " ");
    assert.ok(
      words.includes("This product includes GeoLite2 data created by MaxMind, available from https://www.maxmind.com"),
    );
    assert.ok(words.includes("https://creativecommons.org/licenses/by-sa/4.0/legalcode"));
  });

  it("names every licence that shipped packages have, and no other", () => {
    const named = /^ {2}((?:[\w.-]+, )+[\w.-]+)$/m.exec(notice)?.[1]?.split(", ");
    assert.deepEqual(named, [...new Set(shipped.map(({ license }) => license))].toSorted());
  });

  it("names the packages that come without the text of their licence", () => {
    const bare = shipped.filter(
      ({ folder }) => !readdirSync(folder).some((file) => /^licen[cs]e|^copying/i.test(file)),
    );
    assert.ok(bare.length > 0, "there are some");
    const words = new Set(notice.split(/[\s,]+/));
    assert.deepEqual(
      bare.filter(({ name }) => !words.has(name)).map(({ name }) => name),
      [],
    );
  });

  it("repeats no NOTICE of a package, since none of the packages has one", () => {
    const withNotice = shipped.filter(({ folder }) => readdirSync(folder).some((file) => /^notice/i.test(file)));
    assert.deepEqual(
      withNotice.map(({ name }) => name),
      [],
    );
  });
});
