/** What the front door's redirects are compared with: the redirect that somebody writes with Hono, who reads the body to its end first. */
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { Hono } from "hono";

/** Clients cannot cope with an answer while they are still sending. @returns the port */
export const startBareHono = (): Promise<number> =>
  new Promise((resolve) => {
    const app = new Hono();
    app.all("*", async (context) => {
      await context.req.raw.arrayBuffer();
      const { url } = context.req;
      const path = url.slice(url.indexOf("/", "http://".length));
      return context.body("", 307, { Location: `https://frankfurt.r.llm.example.org${path}` });
    });
    serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }: AddressInfo) => resolve(port));
  });
