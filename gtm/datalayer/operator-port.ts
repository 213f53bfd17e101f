/** What operators may order of a GTM, and what it knows of their orders. */
import type { Drains } from "#gtm/domain/drain-schedule.ts";
import type { AdminState } from "#gtm/domain/region.ts";
import type { OverrideRule } from "#gtm/domain/world.ts";
import type { RegionId } from "#shared/ids.ts";
import type { Part } from "#shared/lifecycle.ts";
import type { DrainScheduleRecord, OperationRecord } from "#shared/operation-record.ts";
import type { OrdersRecord, Override } from "#shared/records.ts";

export type OrderWish = {
  readonly region: RegionId;
  readonly admin: Exclude<AdminState, "active">;
  readonly comment: string;
  readonly actor: string;
  /** Epoch ms; null: it stands until taken back. */
  readonly expiresAtMs: number | null;
  /** null: every conversation that leaves does so at its next turn. */
  readonly schedule: DrainScheduleRecord | null;
  /** What begins with it; null: nothing that goes on. */
  readonly operation: OperationRecord | null;
};

/** Another expiry; one that is not after now cancels. A comment of null leaves what was said. */
export type OverrideChange = {
  readonly actor: string;
  readonly comment: string | null;
  /** Epoch ms. */
  readonly expiresAtMs: number;
  /** Of a share; null: as it is. */
  readonly share: number | null;
  /** When it was changed last, as the caller saw it; null: whatever it is. */
  readonly seenAtMs: number | null;
};

export type OperatorState = Part & {
  /** As this instance knows them, without what has expired. */
  readonly current: () => OrdersRecord;
  /** A region without an entry is active. */
  readonly admin: () => ReadonlyMap<RegionId, AdminState>;
  readonly overrides: () => readonly OverrideRule[];
  readonly drains: () => Drains;
  /** What was known before this process started: an old record is put back only where the store has none that came of it. */
  readonly restore: (orders: OrdersRecord) => void;
  /** All that is known, what is over and taken back included: what a world file keeps. */
  readonly record: () => OrdersRecord;
  /**
   * @param seenAtMs `orderedAtMs` of what stood about the region as the caller saw it (0: nothing did); absent or null: whatever it is
   * @returns null: something else stands there
   * @throws {OperationalError} GTM_STORE_UNREACHABLE, GTM_STORE_REFUSED: an order must reach every GTM, so none is taken
   * while it cannot be written
   */
  readonly order: (wish: OrderWish, seenAtMs?: number | null) => Promise<OrdersRecord | null>;
  /** Takes back what was ordered of a region; nothing happens where nothing was. @returns null: as `order` @throws {OperationalError} as `order` */
  readonly undo: (region: RegionId, actor: string, seenAtMs?: number | null) => Promise<OrdersRecord | null>;
  /** @throws {OperationalError} as `order` */
  readonly override: (override: Override, operation: OperationRecord | null) => Promise<OrdersRecord>;
  /** Extends, shortens or cancels one that stands. @returns null: none of that id stands as it was seen @throws {OperationalError} as `order` */
  readonly changeOverride: (id: string, change: OverrideChange) => Promise<OrdersRecord | null>;
  /**
   * Takes back the order that an operation carries out.
   *
   * @param changedAtMs of the operation as the caller saw it; null: whatever it is
   * @returns null: it had ended or changed @throws {OperationalError} as `order`
   */
  readonly cancelOperation: (
    id: string,
    by: { actor: string; changedAtMs: number | null },
  ) => Promise<OrdersRecord | null>;
  /** That nothing is held there any more; nothing happens where it has ended. @throws {OperationalError} as `order` */
  readonly verifyOperation: (id: string) => Promise<OrdersRecord>;
};
