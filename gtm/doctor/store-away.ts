/** Why a server of the store is away, as people read it, and what mends that. Pure. */
import type { Away, AwayCause } from "#shared/store-redis-facts-away.ts";
import { type Finding, problem } from "./finding.ts";

export const CAUSES: Readonly<Record<AwayCause, readonly [what: string, remedy: string]>> = {
  refused: [
    "nobody listens there",
    "Start redis-server, or name another address in store.url; `ss -ltn` on its host shows what it listens to.",
  ],
  timeout: [
    "it does not answer in time",
    "Look whether the process hangs (`redis-cli ping` on its host), whether a firewall drops packets, and whether store.url should begin with redis instead of rediss or the other way round.",
  ],
  unresolved: ["its name leads nowhere", "Mend the host in store.url, or the name service of this host."],
  "no-route": ["there is no way to it", "Mend the route or the firewall between this host and the store."],
  closed: [
    "it closed the connection before it said anything",
    "If it speaks nothing but TLS, store.url must begin with rediss; if it asks for a certificate, set store.cert_file and store.key_file.",
  ],
  "no-tls": ["it does not speak TLS", "Set `tls-port` in redis.conf, or let store.url begin with redis."],
  "certificate-untrusted": [
    "its certificate is of an authority that is not trusted here",
    "Name the authority's certificate in store.ca_file.",
  ],
  "certificate-expired": [
    "its certificate is not valid now",
    "Renew the server's certificate (`tls-cert-file`), or set this host's clock.",
  ],
  "certificate-name": [
    "its certificate is of another name",
    "Use a name of the certificate in store.url, or add this one to its subjectAltName.",
  ],
  "certificate-wanted": [
    "it wants a certificate that it trusts",
    "Set store.cert_file and store.key_file to a pair that the server's `tls-ca-cert-file` signed.",
  ],
  tls: ["TLS fails", "Compare `tls-protocols` and `tls-ciphers` of redis.conf with what `openssl s_client` reports."],
  "wrong-password": [
    "it refuses the user or the password",
    "Compare store.username_file and store.password_file with the server's users (`redis-cli acl list`).",
  ],
  "no-credentials": [
    "it asks who speaks, and the configuration does not say",
    "Set store.username_file and store.password_file; deploy/redis/make-users.sh makes both sides.",
  ],
  "not-permitted": ["the user may not even ask for PING", "Give the user the rules of deploy/redis/acl/gtm.acl."],
  loading: ["it is reading its data from disk", "Wait; `redis-cli info persistence` says how much is left."],
  full: [
    "it takes no more clients",
    "Raise `maxclients` in redis.conf, or find who opens so many (`redis-cli client list`).",
  ],
  protected: [
    "in protected mode it speaks with its own host alone",
    "Give its users passwords, then set `protected-mode no` in redis.conf.",
  ],
  "not-a-cluster": ["it is no part of a Cluster", "Let store.url begin with redis instead of redis+cluster."],
  "no-primary": [
    "no Sentinel names a primary",
    "Put the name of `sentinel monitor` behind the slash of store.url, or start the Sentinels' primary.",
  ],
  "secret-unreadable": [
    "a file that it needs cannot be read",
    "Mend the path or the permissions; the user that runs the GTM must be able to read it.",
  ],
  other: ["it cannot be used", "Read what it said, and the log of the server."],
};

export const SENTINEL_PASSWORD_REMEDY = "Put the Sentinels' own password into store.sentinel_password_file.";

export const awayFinding = (place: string, away: Away): Finding => {
  const [what, remedy] = CAUSES[away.cause];
  return problem("store-away", `The store at ${place} is away: ${what} (${away.detail}).`, remedy);
};
