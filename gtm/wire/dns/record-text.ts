/** The data of a record as zone files write it (RFC 1035 §5), for people. */
import type { RecordData } from "./record-data.ts";
import type { Service } from "./service.ts";

/** Names end in their dot. */
export const recordText = (data: RecordData): string => {
  switch (data.type) {
    case "A":
    case "AAAA":
      return data.address;
    case "NS":
      return whole(data.host);
    case "CNAME":
      return whole(data.target);
    case "MX":
      return `${data.preference} ${whole(data.exchange)}`;
    case "SRV":
      return `${data.priority} ${data.weight} ${data.port} ${whole(data.target)}`;
    case "TXT":
      return data.texts.map(quoted).join(" ");
    case "CAA":
      return `${data.flags} ${data.tag} ${quoted(data.value)}`;
    case "HINFO":
      return `${quoted(data.cpu)} ${quoted(data.os)}`;
    case "SOA": {
      const timers = [data.serial, data.refreshSeconds, data.retrySeconds, data.expireSeconds, data.minimumSeconds];
      return `${whole(data.mname)} ${whole(data.rname)} ${timers.join(" ")}`;
    }
    case "HTTPS":
      return serviceText(data.service);
  }
};

const whole = (name: string): string => (name === "." ? name : `${name}.`);

/** What is no printable ASCII as three digits (RFC 1035 §5.1). */
const quoted = (text: string): string =>
  `"${[...Buffer.from(text, "utf8")]
    .map((octet) => {
      const character = String.fromCharCode(octet);
      if (octet < 0x20 || octet > 0x7e) return `\\${String(octet).padStart(3, "0")}`;
      return character === '"' || character === "\\" ? `\\${character}` : character;
    })
    .join("")}"`;

/** RFC 9460 §2.1. */
const serviceText = (service: Service): string => {
  if (service.mode === "alias") return `0 ${whole(service.target)}`;
  const { alpn, port, ipv4, ipv6 } = service;
  return [
    `1 . alpn=${alpn.join(",")}`,
    ...(port === 443 ? [] : [`port=${port}`]),
    ...(ipv4.length === 0 ? [] : [`ipv4hint=${ipv4.join(",")}`]),
    ...(ipv6.length === 0 ? [] : [`ipv6hint=${ipv6.join(",")}`]),
  ].join(" ");
};
