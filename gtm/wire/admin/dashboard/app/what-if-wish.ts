/** What is asked by "what if": as the page's address has it, as the API takes it, and as a command line. */

/** `region.<id>`: what would be ordered of it; `kind`, `region`, `pool`, `model`, `tenant`: an override; `margin`: ms. "" is nothing. */
export type WhatIfWish = Readonly<Record<string, string>>;

const ABOUT = ["pool", "model", "tenant"] as const;

/** @param regions those there are: others in an address that somebody typed are left out */
export const whatIfAsked = (wish: WhatIfWish, regions: readonly string[]) => {
  const ordered = regions.flatMap((region) => {
    const state = wish[`region.${region}`] ?? "";
    return state === "" ? [] : [[region, state] as const];
  });
  const { kind = "", region = "", margin = "" } = wish;
  const about = ABOUT.flatMap((name) => {
    const glob = wish[name] ?? "";
    return kind === "" || glob === "" ? [] : [[name, glob] as const];
  });
  const isOverriding = kind !== "" && region !== "";
  return {
    body: {
      regions: Object.fromEntries(ordered),
      overrides: isOverriding ? [{ kind, region, ...Object.fromEntries(about) }] : [],
      ...(margin === "" ? {} : { policy: { marginMs: Number(margin) } }),
    },
    words: [
      "what-if",
      ...ordered.flatMap(([id, state]) => ["--region", `${id}=${state}`]),
      ...(isOverriding ? [`--${kind}`, region, ...about.flatMap(([name, glob]) => [`--${name}`, glob])] : []),
      ...(margin === "" ? [] : ["--policy", `marginMs=${margin}`]),
    ],
  };
};
