/**
 * Signing in, and handing out tokens, as an admin does it in Chromium: nobody is asked for a token, a viewer is told what is missing,
 * a token is shown once and revoked, markup in it stays text. No error on the console but the refusals, nothing that axe finds.
 */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { type AdminBrowser, openAdminBrowser } from "#test/support/admin-browser.ts";
import { type RunningAdmin, runningAdmin, type Tokens, tokensFile } from "#test/unit/gtm/wire/admin/running-admin.ts";

const MARKUP = '<img src=x onerror="document.title=1">';

let tokens: Tokens;
let admin: RunningAdmin;
let browser: AdminBrowser;

before(async () => {
  tokens = await tokensFile();
  admin = await runningAdmin({ tokensFile: tokens.path });
  browser = await openAdminBrowser(admin.url);
});
after(async () => {
  await browser?.[Symbol.asyncDispose]();
  await admin?.[Symbol.asyncDispose]();
  await tokens?.[Symbol.asyncDispose]();
});
/** The browser tells of every answer that is none; anything else would be a fault of the page. */
afterEach(() => {
  const others = browser.complaints().filter((text) => !/the server responded with a status of 40[13]/.test(text));
  assert.deepEqual(others, []);
});

const signIn = async (token: string): Promise<void> => {
  await browser.page.getByLabel("Token of the admin API").fill(token);
  await browser.page.getByRole("button", { name: "Sign in" }).click();
};
const button = (name: string) => browser.page.getByRole("button", { name, exact: true });

describe("the page of a GTM that asks for tokens", () => {
  it("asks nobody for theirs, keeps the place, and says why a token will not do", async () => {
    await browser.open("audit");
    await browser.seen("It is kept for this tab only.");
    await browser.inspect("sign-in");
    await signIn("gtm_wrong");
    await browser.seen("Signed out. No such token is known.");
    await browser.picture("sign-in-refused");
    await signIn(tokens.of.viewer);
    await browser.seen("Nobody has changed anything.");
    await browser.seen("the-viewer");
    assert.equal(await browser.page.evaluate(() => JSON.stringify([localStorage, document.cookie])), '[{},""]');
  });
  it("shows a viewer no way to the tokens, and says which role is missing", async () => {
    assert.equal(await browser.page.getByRole("link", { name: "Tokens" }).count(), 0);
    await browser.open("tokens");
    await browser.seen("Not with this token. This needs the role admin; the-viewer is viewer.");
    await browser.picture("forbidden");
    await button("Sign in as somebody else").click();
    await browser.seen("Token of the admin API");
  });
  it("lets an admin make one after a preview and a typed name, and shows it once", async () => {
    await signIn(tokens.of.admin);
    await browser.seen("Who may use this API");
    const { page } = browser;
    await page.getByLabel("Whose").fill("bob");
    await page.getByRole("combobox").selectOption("operator");
    await page.getByLabel("Only regions").fill("eu-*, us-1");
    await page.getByLabel("Why").fill(MARKUP);
    await button("Preview").click();
    await browser.seen("limited to regions eu-*, us-1; ends in 30 d 0 h");
    await browser.seen(/gtm token create --server .* --role operator --name bob --regions 'eu-\*,us-1' --for 30d/);
    assert.ok(await button("Make it").isDisabled());
    await browser.inspect("token-plan");
    await page.getByLabel("Type bob to make it").fill("bob");
    await button("Make it").click();
    const token = (await page.locator("output.secret").textContent()) ?? "";
    assert.equal((await admin.ask("GET", "/whoami", { token })).body.name, "bob");
    await browser.picture("token-made");
    await button("I have it").click();
    await browser.seen(MARKUP);
    assert.notEqual(await page.title(), "1");
    assert.doesNotMatch(await page.content(), new RegExp(token));
  });
  it("revokes it after its name was typed", async () => {
    await button("Revoke bob").click();
    await browser.seen(/gtm token revoke tk-[0-9a-f]{16}$/);
    await browser.page.getByLabel("Tokens that were made with it, too").check();
    await browser.seen(/gtm token revoke tk-[0-9a-f]{16} --with-made/);
    await browser.picture("token-revoke");
    await browser.page.getByLabel("Type bob to revoke it").fill("bob");
    await button("Revoke").click();
    await browser.seen("revoked by the-admin");
    await browser.inspect("tokens");
  });
  it("signs out, and one whose token was taken away is asked again", async () => {
    await button("Sign out").click();
    await browser.seen("Token of the admin API");
    const body = { name: "carol", role: "viewer", comment: "a test", for: "30m" };
    const made = (await admin.ask("POST", "/tokens", { token: tokens.of.admin, body })).body;
    await signIn(made.token);
    await browser.seen("ends in 30 min");
    await admin.ask("DELETE", `/tokens/${made.id}`, { token: tokens.of.admin });
    await browser.seen(/Signed out\. The token carol was revoked/);
  });
});
