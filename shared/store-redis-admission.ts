/** Who may use the connection: nobody while Redis is away, no more at once than memory bears, and nobody longer than the deadline. */
import { OperationalError } from "./errors.ts";
import { storeErrorOf } from "./store-redis-errors.ts";

export type Admission = {
  /** @throws {OperationalError} GTM_STORE_UNREACHABLE, GTM_STORE_REFUSED */
  readonly admitted: <Value>(call: () => Promise<Value>) => Promise<Value>;
  /** The deadline alone, for what a call waits for on its way. @throws {OperationalError} as `admitted` */
  readonly within: <Value>(running: Promise<Value>) => Promise<Value>;
};

export type AdmissionOptions = {
  readonly isUp: () => boolean;
  /** Resolves when it is known for the first time whether Redis answers. */
  readonly settled: () => Promise<void>;
  readonly isClosed: () => boolean;
  readonly deadlineMs: number;
};

/** Unanswered ones, whether or not somebody still waits for them: a report or record each, so some tens of megabytes at most. */
const MOST_UNANSWERED = 10_000;

export const createAdmission = (options: AdmissionOptions): Admission => {
  const { isUp, isClosed, deadlineMs } = options;
  let unanswered = 0;
  let isSettled = false;

  const unreachable = (why: string): OperationalError => new OperationalError("GTM_STORE_UNREACHABLE", why);
  const refusal = (): OperationalError | null => {
    if (isClosed()) return unreachable("the store has been closed");
    if (!isUp()) return unreachable("the store is away");
    if (unanswered >= MOST_UNANSWERED) return unreachable(`${unanswered} operations wait for the store already`);
    return null;
  };
  /** What is not answered by the deadline may still be done by Redis: callers must be able to do it twice. */
  const within = <Value>(running: Promise<Value>): Promise<Value> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(unreachable(`no answer within ${deadlineMs} ms`)), deadlineMs);
      running.then(
        (value) => {
          clearTimeout(timer);
          resolve(value);
        },
        (cause) => {
          clearTimeout(timer);
          reject(storeErrorOf(cause));
        },
      );
    });

  const admitted: Admission["admitted"] = async (call) => {
    if (!isSettled && !isClosed()) {
      await options.settled();
      isSettled = true;
    }
    const refused = refusal();
    if (refused !== null) throw refused;
    unanswered += 1;
    const running = started(call).finally(() => {
      unanswered -= 1;
    });
    return within(running);
  };
  return { admitted, within };
};

/** ioredis also throws at once, where nobody serves the slot in a Cluster. */
const started = async <Value>(call: () => Promise<Value>): Promise<Value> => call();
