/** Replies as the check of DNS reads them, and servers that give them. */
import type { Ask, Asked } from "#gtm/dns-check/ask.ts";
import type { Query, Reply, ReplyRecord } from "#gtm/dns-check/message.ts";
import type { OptReply } from "#gtm/dns-check/opt.ts";

export const aRecord = (name: string, type: string, data: string, ttlSeconds = 3_600): ReplyRecord => ({
  ...{ name, type, ttlSeconds, data },
});

export const anOpt = (wish: Partial<OptReply> = {}): OptReply => ({
  ...{ version: 0, payload: 1_232, extendedRcode: 0, optionCodes: [], subnet: null },
  ...wish,
});

export const aReply = (wish: Partial<Reply> = {}): Asked => ({
  kind: "answered",
  reply: {
    ...{ rcode: 0, isAuthoritative: true, isTruncated: false, answers: [], authority: [], additional: [], opt: null },
    ...wish,
  },
});

export const noAnswer = (why = "no answer within 3 s", isLocal = false): Asked => ({ kind: "failed", why, isLocal });

/** Counts what is asked, and answers at once. */
export const askOf = (answer: (address: string, query: Query, times: number) => Asked) => {
  const asked: string[] = [];
  const ask: Ask = async ({ address }, query, transport) => {
    const key = `${address} ${query.name} ${query.type} ${transport}`;
    asked.push(key);
    return answer(address, query, asked.filter((one) => one === key).length);
  };
  return { ask, asked };
};
