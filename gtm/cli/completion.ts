/** `gtm completion bash|zsh|fish`: a script for the shell, made of the commands there are. */
import { Argument, Command } from "commander";
import { z } from "zod";
import { DEFAULT_SERVER, withExamples } from "./api-command.ts";
import { createClient } from "./client.ts";
import { bashScript } from "./completion-bash.ts";
import { fishScript } from "./completion-fish.ts";
import { treeOf } from "./completion-tree.ts";
import { zshScript } from "./completion-zsh.ts";
import type { CliIo } from "./io.ts";

const SHELLS = [
  { name: "bash", script: bashScript, install: "completion bash > ~/.local/share/bash-completion/completions/gtm" },
  { name: "zsh", script: zshScript, install: "completion zsh > /usr/local/share/zsh/site-functions/_gtm" },
  { name: "fish", script: fishScript, install: "completion fish > ~/.config/fish/completions/gtm.fish" },
] as const;

export const completionCommand = (io: CliIo): Command => {
  const completion = new Command("completion").description(
    "print a script that completes commands, options, regions and pools in a shell",
  );
  for (const { name, script, install } of SHELLS) {
    completion.addCommand(
      withExamples(new Command(name).description(`for ${name}`), [install]).action(() => {
        io.print(script(treeOf(completion.parent ?? completion)));
      }),
    );
  }
  return completion.addCommand(valuesCommand(io), { hidden: true });
};

/** A person waits at the prompt. */
const DEADLINE_MS = 800;

const Names = z.looseObject({
  regions: z.array(z.looseObject({ id: z.string() })),
  pools: z.array(z.looseObject({ name: z.string(), models: z.array(z.string()) })),
});

/** What the scripts ask while somebody types: silent where no GTM answers at once, since nothing may disturb the line. */
const valuesCommand = (io: CliIo): Command =>
  withExamples(new Command("values").description("names as a GTM knows them, a line each; for the scripts"), [
    "completion values regions",
  ])
    .addArgument(new Argument("<what>", "of what").choices(["regions", "pools", "models"]))
    .option("--server <url>", "address of the admin API", DEFAULT_SERVER)
    .action(async (what: "regions" | "pools" | "models", { server }: { server: string }) => {
      const names = await namesOf(server, io.env["GTM_TOKEN"]);
      if (names === null) return;
      const { regions, pools } = names;
      const lists = {
        regions: regions.map(({ id }) => id),
        pools: pools.map(({ name }) => name),
        models: pools.flatMap(({ models }) => models),
      };
      io.print([...new Set(lists[what])].map((one) => `${one}\n`).join(""));
    });

/** null: nobody answers in time, or will not. */
const namesOf = async (server: string, token: string | undefined): Promise<z.infer<typeof Names> | null> => {
  try {
    const client = createClient({ server, token });
    const response = await client.stream({ method: "GET", path: "/status" }, null, AbortSignal.timeout(DEADLINE_MS));
    return Names.parse(await response.json());
  } catch {
    return null;
  }
};
