/** One thread that answers DNS, as the main thread holds it. */
import type { Worker } from "node:worker_threads";
import type { Listen, ListenAddress } from "#gtm/wire/dns/listen.ts";
import { OperationalError } from "#shared/errors.ts";
import type { Batch, FromThread, LabelAsk, ToThread } from "./messages.ts";

export type Thread = {
  /** Told to a thread that is gone, nothing happens. */
  readonly tell: (message: ToThread) => void;
  /** It runs, and waits to be told of the world; rejects when it ends before. */
  readonly ready: Promise<void>;
  /** @throws {OperationalError} GTM_LISTEN_FAILED */
  readonly open: (listen: readonly Listen[]) => Promise<readonly ListenAddress[]>;
  /** Resolves when everything that it accepted is answered and booked, and it is gone. */
  readonly stop: () => Promise<void>;
  /** Ends it as it is. */
  readonly end: () => Promise<void>;
  /** Resolves with the reason, once it is gone. */
  readonly ended: Promise<string>;
};

export type ThreadHandlers = {
  readonly onBatch: (batch: Batch) => void;
  readonly onLabels: (asked: readonly LabelAsk[], tell: Thread["tell"]) => void;
};

export const createThread = (worker: Worker, { onBatch, onLabels }: ThreadHandlers): Thread => {
  const ready = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<readonly ListenAddress[]>();
  const stopped = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<string>();
  let fault: string | null = null;
  // Who is not asked for has no one to hear that it failed.
  for (const { promise } of [ready, opened]) promise.catch(() => {});

  const tell = (message: ToThread): void => worker.postMessage(message);
  const hear = (message: FromThread): void => {
    switch (message.kind) {
      case "ready":
        ready.resolve();
        break;
      case "opened":
        opened.resolve(message.addresses);
        break;
      case "failed":
        opened.reject(new OperationalError("GTM_LISTEN_FAILED", message.message));
        break;
      case "labels":
        onLabels(message.asked, tell);
        break;
      case "batch":
        onBatch(message.batch);
        break;
      case "stopped":
        stopped.resolve();
        break;
    }
  };
  worker.on("message", hear);
  worker.on("error", (cause) => {
    fault = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
  });
  worker.on("exit", (code) => {
    const why = fault ?? `exit code ${code}`;
    const gone = new Error(`the thread ended: ${why}`);
    ready.reject(gone);
    opened.reject(gone);
    stopped.resolve();
    ended.resolve(why);
  });
  const end = async (): Promise<void> => {
    await worker.terminate();
    await ended.promise;
  };
  return {
    tell,
    ready: ready.promise,
    open: (listen) => {
      tell({ kind: "open", listen });
      return opened.promise;
    },
    stop: async () => {
      tell({ kind: "stop" });
      await stopped.promise;
      await end();
    },
    end,
    ended: ended.promise,
  };
};
