/** node:http and node:https without what importing them brings along. */

// An ES module's import of node:http reads every name it exports, and with WebSocket Node's own fetch is loaded: 14 MiB that an agent never uses.
export const http = process.getBuiltinModule("node:http");

/** Loaded with the first address that needs it. */
export const loadHttps = (): typeof import("node:https") => process.getBuiltinModule("node:https");
