/** How much of this process strangers may hold. */

export type DnsLimits = {
  /** Connections over TCP; one more closes the one that has been idle longest. */
  readonly tcpConnections: number;
  /** The same for one IPv4 address, or one IPv6 /48, which is one site. */
  readonly tcpConnectionsPerPeer: number;
  /** Since the last whole query, however many octets came meanwhile; then the connection is destroyed, not asked to close. */
  readonly tcpIdleMs: number;
  /** The longest query over TCP; no query that means anything here comes near. */
  readonly tcpQueryOctets: number;
  /** Answers that a connection's peer has not taken; reading stops there. */
  readonly tcpUnsentOctets: number;
  /** Look-ups under way for one connection; reading stops there too. */
  readonly tcpPendingAnswers: number;
  /** How long a peer may take to receive its last answers when the server stops. */
  readonly tcpCloseMs: number;
  /** Answers that the kernel has not taken, a socket; further queries are dropped. */
  readonly udpUnsentAnswers: number;
};

/** gdnsd's connections a thread, a quarter of them for one peer; RFC 7766 §6.2.3 asks for an idle time of seconds. */
export const DEFAULT_LIMITS: DnsLimits = {
  tcpConnections: 256,
  tcpConnectionsPerPeer: 64,
  tcpIdleMs: 10_000,
  tcpQueryOctets: 1_024,
  tcpUnsentOctets: 65_536,
  tcpPendingAnswers: 64,
  tcpCloseMs: 1_000,
  udpUnsentAnswers: 1_024,
};
