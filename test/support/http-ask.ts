/** Asks a front door one thing, well-formed, on a connection of its own. */
import { type RunningFrontDoor, ZONE } from "./front-door.ts";
import { askRaw, type RawAnswer } from "./raw-http.ts";

export const FRONT_HOST = `front.${ZONE}`;

export type Asked = {
  readonly method?: string;
  readonly target?: string;
  readonly host?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
};

/** A chat by POST, where nothing else is said. */
export const ask = (front: RunningFrontDoor, asked: Asked): Promise<RawAnswer> => {
  const { method = "POST", target = "/v1/chat/completions", host = FRONT_HOST, headers = {} } = asked;
  const body = asked.body === undefined ? "" : JSON.stringify(asked.body);
  const length = body === "" ? {} : { "Content-Type": "application/json", "Content-Length": `${body.length}` };
  const fields = Object.entries({ Host: host, ...length, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return askRaw(front.port, `${method} ${target} HTTP/1.1\r\n${fields.join("")}\r\n${body}`, {
    isHead: method === "HEAD",
  });
};
