/** `gtm dns`: the instances seen from outside, as resolvers see them. */
import { Command } from "commander";
import { dnsCheckCommand } from "./dns-check.ts";
import type { CliIo } from "./io.ts";

export const dnsCommand = (io: CliIo): Command =>
  new Command("dns").description("what the GTMs answer over DNS").addCommand(dnsCheckCommand(io));
