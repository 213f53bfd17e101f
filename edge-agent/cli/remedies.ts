/** What to do about a fault: by its code, and by the engine whose setting would mend it. */
import { engineRemedy } from "./engine-remedies.ts";

type Remedy = {
  readonly code: RegExp;
  /** Problems make `check` end with 7; notes only leave a field of the report empty. */
  readonly isProblem: boolean;
  readonly advice: string;
};

const REMEDIES: readonly Remedy[] = [
  problem(/^refused$/, "Nothing listens there. Start the engine, or mend the address."),
  problem(/^untrusted$/, "Its certificate is not believed: set ca_file to its authority, or ask under the name in it."),
  problem(
    /^unusable-file$/,
    "The file cannot be read or understood; what it held before is used. The log says which line.",
  ),
  problem(/^named-twice$/, "Two entries lead to this address; the first one counts."),
  problem(/^dns-/, "The name cannot be resolved. Behind a headless service without ready pods there is no address."),
  note(/^loading$/, "It is loading its model and will serve."),
  note(
    /^partly-on-cpu$/,
    "A part of its layers is computed by the CPU: slow. Give it a smaller model or more GPU memory.",
  ),
  problem(/^unreachable$/, "No connection. Check the name, the route and the firewall."),
  problem(
    /^timed-out$/,
    "No whole answer within scrape.deadline. A busy engine answers late; a load balancer may not answer at all.",
  ),
  problem(/^too-large$/, "More than 16 MiB: this is no metrics page."),
  problem(/^half-sent$/, "The answer broke off. Look for a proxy that cuts long answers."),
  problem(/^redirected$/, "It redirects to another origin. Configure the address that answers itself."),
  problem(/^encoded$/, "It is compressed in a way that cannot be read. Turn that off in the proxy in front."),
  problem(
    /^html$/,
    "It answers with a web page: a proxy's login or error. Set bearer_token_file, or mend the address.",
  ),
  problem(
    /^empty$/,
    "It answers with nothing. vLLM has no metrics with --disable-log-stats; LMCache none before its first request.",
  ),
  problem(/^http-40[13]$/, "It asks for a key: set api_key_file."),
  problem(/^http-404$/, "That path does not exist there. vLLM has no metrics with --disable-log-stats."),
  problem(/^http-503$/, "The engine says that it is not able to serve."),
  problem(/^http-/, "An unexpected status. Ask with curl what it says."),
  problem(/^unrecognised$/, "No known engine writes this page. Name the engine in the configuration."),
  problem(
    /^metrics-contract-broken$/,
    "A required name is missing. The engine is newer or older than this agent knows.",
  ),
  problem(/^multi-replica-endpoint$/, "Several processes answer there. Name each replica's own address."),
  problem(/^(?:not-json|not-a-model-list)$/, "This is no OpenAI model list. Check the address."),
  problem(/^no-devices$/, "The driver sees no GPU. Check the container's devices."),
  problem(/^not-runnable$/, "The command cannot be started. Check the path in gpus.nvidia_smi."),
  problem(/^exit-/, "The command failed. Run it by hand."),
  note(/^capacity-unknown$/, "Set models[].kv_capacity_tokens from the engine's start-up log."),
  note(/^upper-bound$/, "This version counts cached tokens too: rates are too high. Upgrade the engine."),
  note(/^mig-memory-unknown$/, "With MIG nobody says how much memory a slice has."),
  note(/^(?:not-available|blank)$/, "The driver does not say."),
  problem(
    /^vanished$/,
    "It was there before: the engine was upgraded, or its settings changed. If it was renamed, set engines[].aliases.",
  ),
  problem(/^model-unknown$/, "Nothing there names the model. Set engines[].model."),
  note(
    /^engine-name$/,
    "The engine calls the model by a name of its own. Set engines[].model to the one that clients ask for.",
  ),
  note(/^not-exported$/, "This engine has no name for it; this field stays empty."),
  note(/^lower-bound$/, "How many workers there are is not said: one is counted. Set models[].kv_capacity_tokens."),
  note(
    /^gpus-unattributed$/,
    "Which GPUs are this model's is not known: set engines[].gpu_uuids, or engines[].gpu_pods where the exporter names pods.",
  ),
  note(/^gpus-shared$/, "Another model is on the same GPU: its memory counts for both."),
  note(/^drained$/, "No iteration since the last look: it idles, or somebody else reads the same list."),
  note(/^missing$/, "The engine does not say; this field stays empty."),
];

function problem(code: RegExp, advice: string): Remedy {
  return { code, isProblem: true, advice };
}
function note(code: RegExp, advice: string): Remedy {
  return { code, isProblem: false, advice };
}

export type Where = {
  /** As recognised; null: it was not. */
  readonly engine: string | null;
  readonly field: string;
};

export const remedyFor = (code: string, { engine, field }: Where): Omit<Remedy, "code"> =>
  engineRemedy(engine, field, code) ??
  REMEDIES.find((remedy) => remedy.code.test(code)) ?? { isProblem: true, advice: "Ask with curl what it says." };
