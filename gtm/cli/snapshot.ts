/** `gtm snapshot`: everything that a decision would rest on now, in a file, to be looked at where there is no GTM. */
import type { Command } from "commander";
import { z } from "zod";
import { Snapshot } from "#gtm/wire/admin/snapshot.ts";
import { apiCommand, invocationOf, printOne, understood } from "./api-command.ts";
import type { CliIo } from "./io.ts";
import { bytes } from "./quantity.ts";
import { type Question, questionBody, withQuestion } from "./question.ts";
import { writeSnapshot } from "./snapshot-file.ts";

export const snapshotCommand = (io: CliIo): Command =>
  withQuestion(
    apiCommand("snapshot", "write what a decision would rest on now to a file, for `gtm explain --offline`", [
      "snapshot incident.json --pool chat --client 203.0.113.7",
      "snapshot incident.json --pool chat --client 203.0.113.7 --conversation 4q8t1v7k0c2me --prompt-tokens 18432",
    ]).argument("<file>", "where to write it; readable by you alone. No prompts and no secrets are in it"),
  ).action(async (file: string, question: Question, command: Command) => {
    const invocation = invocationOf(command, io);
    const asked = Object.entries(questionBody(question));
    const query = Object.fromEntries(
      asked.flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
    );
    const { body } = await invocation.client.call({ method: "GET", path: "/snapshot", query });
    const { decision, instance, at } = understood(Snapshot, body);
    writeSnapshot(file, body);
    const { verdict } = decision;
    const about = {
      file,
      bytes: JSON.stringify(body).length,
      instance,
      at,
      verdict: verdict.kind,
      region: verdict.region,
    };
    printOne(
      invocation,
      about,
      Written,
      (one) => `${one.file}: ${bytes(one.bytes)}, ${one.verdict} → ${one.region ?? "nowhere"}\n`,
    );
    io.tell(`\`gtm explain --offline ${file}\` decides it again.\n`);
  });

const Written = z.looseObject({
  file: z.string(),
  bytes: z.number(),
  verdict: z.string(),
  region: z.string().nullable(),
});
