/** `gtm zones`: what others have to know of the zone. */
import { Command } from "commander";
import type { CliIo } from "./io.ts";
import { delegationCommand } from "./zones-delegation.ts";

export const zonesCommand = (io: CliIo): Command =>
  new Command("zones")
    .description("the delegation of the zone: what the parent has to hold, and whether it does")
    .addCommand(delegationCommand(io));
