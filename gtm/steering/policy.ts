/** The numbers of steering: data that an operator changes, in milliseconds unless the name says otherwise. */

export type Policy = {
  /** A move must save at least this much, and this fraction of home's total. */
  readonly marginMs: number;
  readonly marginFraction: number;
  /** Totals this close to the best are equal; the hash decides among them. */
  readonly bucketMs: number;
  /** A of the memory price; 0 turns it off. */
  readonly memoryPriceFactor: number;
  /** Share of conversations with another turn, and share of a held context that follow-ups reuse; 0 to 1, until learnt. */
  readonly nextTurnFraction: number;
  readonly reuseFraction: number;
  /** Exchange rates of decode speed and money into milliseconds of TTFT. */
  readonly decodeWeight: number;
  readonly msPerCent: number;
  /** What an hour of one replica costs; heard only where msPerCent is above 0. */
  readonly replicaCentsPerHour: number;
  /** Added for each second of report age beyond the free ones. */
  readonly stalenessMsPerSecond: number;
  readonly stalenessFreeMs: number;
  readonly staleAfterMs: number;
  readonly expiredAfterMs: number;
  /** How long a connection to home is believed open after a turn. */
  readonly connectionIdleMs: number;
  readonly roundTripsOpen: number;
  readonly roundTripsNew: number;
  /** Round trip to every region where the client's location is unknown. */
  readonly unknownRttMs: number;
  /** How long after a turn its conversation stays pinned, sliding; afterwards what it holds still counts, as cost. */
  readonly pinMs: number;
  /** L where a pin token says that there is a context and nothing says how long it is. */
  readonly assumedContextTokens: number;
  /** g of a cell, and of a turn whose prompt is not known. */
  readonly cellPromptTokens: number;
  readonly labelPromptTokens: number;
  readonly assumedOutputTokens: number;
  /** How much longer the holder replica may queue than the least loaded before a send is not booked on it. */
  readonly holderPatienceMs: number;
  /** Below this confidence rates are not trusted: power of two choices on backlog, pins kept. */
  readonly confidenceFloor: number;
  /** Cold start where neither report nor configuration says. */
  readonly assumedColdStartMs: number;
  /** Where no report is younger, displaced conversations are spread by the hash alone. */
  readonly blindAfterMs: number;
  /** How many later turns' round trips count in the law of moving; 0 to 3. */
  readonly laterTurns: number;
  readonly ttlSteadySeconds: number;
  readonly ttlUnsettledSeconds: number;
  /** TTFT promise: fixed part, and per 1 000 prompt tokens. */
  readonly sloBaseMs: number;
  readonly sloPer1000TokensMs: number;
};

/** Defaults; gtm/README.md names the source of each. A replica-hour is eight H100 at about 3 dollars an hour each. */
export const DEFAULT_POLICY: Policy = {
  marginMs: 50,
  marginFraction: 0.1,
  bucketMs: 20,
  memoryPriceFactor: 4,
  nextTurnFraction: 0.75,
  reuseFraction: 0.9,
  decodeWeight: 0,
  msPerCent: 0,
  replicaCentsPerHour: 2_400,
  stalenessMsPerSecond: 10,
  stalenessFreeMs: 10_000,
  staleAfterMs: 5_000,
  expiredAfterMs: 30_000,
  connectionIdleMs: 120_000,
  roundTripsOpen: 1,
  roundTripsNew: 3,
  unknownRttMs: 100,
  pinMs: 900_000,
  assumedContextTokens: 4_096,
  cellPromptTokens: 4_096,
  labelPromptTokens: 512,
  assumedOutputTokens: 256,
  holderPatienceMs: 2_000,
  confidenceFloor: 0.25,
  assumedColdStartMs: 80_000,
  blindAfterMs: 10_000,
  laterTurns: 0,
  ttlSteadySeconds: 20,
  ttlUnsettledSeconds: 5,
  sloBaseMs: 1_000,
  sloPer1000TokensMs: 62.5,
};
