/** `gtm zones`: the names that are answered, and what others have to know of the zone. */
import { Command } from "commander";
import type { CliIo } from "./io.ts";
import { delegationCommand } from "./zones-delegation.ts";
import { zoneListCommand, zoneRecordsCommand } from "./zones-records.ts";

export const zonesCommand = (io: CliIo): Command =>
  new Command("zones")
    .description("the zone: its names and how each is answered, what the parent has to hold, and whether it does")
    .addCommand(zoneListCommand(io))
    .addCommand(zoneRecordsCommand(io))
    .addCommand(delegationCommand(io));
