/** `gtm keys`: the keys of labels, tickets, reports and DNS cookies, as files. */
import { Command } from "commander";
import type { CliIo } from "./io.ts";
import { initCommand } from "./keys-init.ts";
import { listCommand } from "./keys-list.ts";
import { regionCommand } from "./keys-region.ts";
import { dropCommand, rotateCommand } from "./keys-rotate.ts";

export const keysCommand = (io: CliIo): Command =>
  new Command("keys")
    .description("key files of labels, tickets, reports and DNS cookies: make, list, change in steps")
    .addCommand(initCommand(io))
    .addCommand(listCommand(io))
    .addCommand(regionCommand(io))
    .addCommand(rotateCommand(io))
    .addCommand(dropCommand(io))
    .addHelpText("after", STEPS);

const STEPS = `
Changing a key that several GTMs share, without a label that one of them cannot read:
  1  gtm keys rotate signing --dir DIR              the next key is accepted; copy signing.keys to every GTM
  2  gtm keys rotate signing --dir DIR --activate   it signs; copy signing.keys to every GTM
  3  gtm keys drop signing --dir DIR                an hour later; copy signing.keys to every GTM
GTMs read changed files within 5 s, and at once on SIGHUP.
Of ticket.keys the gateways have derived keys: copy ticket-<region>.keys to them at each step, before ticket.keys to the GTMs.`;
