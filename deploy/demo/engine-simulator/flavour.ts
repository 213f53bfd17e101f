/** Whose words a simulated engine speaks: vLLM's, SGLang's or llama.cpp's. What it does is the same. */

export const FLAVOURS = ["vllm", "sglang", "llama-cpp"] as const;
export type Flavour = (typeof FLAVOURS)[number];

/** As model lists name them under `owned_by`. */
export const OWNER: Readonly<Record<Flavour, string>> = { vllm: "vllm", sglang: "sglang", "llama-cpp": "llamacpp" };

/** Paths that ask for no key where the engine has one. */
export const isOpenPath = (flavour: Flavour, path: string): boolean => {
  switch (flavour) {
    case "vllm":
      return !path.startsWith("/v1");
    case "sglang":
      return path.startsWith("/health") || path.startsWith("/metrics") || isOwn(path);
    case "llama-cpp":
      return path === "/health" || path === "/v1/models" || isOwn(path);
  }
};

/** The simulator's, not the engine's. */
const isOwn = (path: string): boolean => path.startsWith("/sim/") || path.startsWith("/dcgm/");
