/** The four ways from a client to its region, as base URLs and headers that an SDK is given before a turn. */
import assert from "node:assert/strict";
import OpenAI from "openai";
import { SIMULATED_ALIAS } from "./engine-simulators.ts";
import type { Aim, SdkWish } from "./sdk-turns.ts";
import type { SteeredRegions } from "./steered-regions.ts";

export const FOUR_WAYS = ["label", "steer", "ticket", "forward"] as const;
export type FourWays = (typeof FOUR_WAYS)[number];

export type Caller = {
  readonly conversation: string;
  /** As a trusted proxy tells the front door. */
  readonly from: string;
};

/** @returns asked before each turn */
export const wayOf = (way: FourWays, house: SteeredRegions, sdk: SdkWish, caller: Caller): (() => Promise<Aim>) => {
  const named = { "x-forwarded-for": caller.from, "x-conversation-id": caller.conversation };
  const through = (host: string) => (): Promise<Aim> =>
    Promise.resolve({ baseUrl: `${house.frontUrl(host)}/v1`, headers: named });
  switch (way) {
    case "ticket":
      return through("front");
    case "forward":
      return through("through.front");
    case "steer":
      return async () => {
        const { base_url, label } = await steer(house, sdk, caller);
        return { baseUrl: base_url, headers: { "X-GTM-Pin": label } };
      };
    case "label": {
      let aim: Aim | null = null;
      return async () => {
        // Once: its name follows the conversation.
        aim ??= { baseUrl: (await steer(house, sdk, caller)).pinned_base_url, headers: {} };
        return aim;
      };
    }
  }
};

type Steered = { readonly base_url: string; readonly pinned_base_url: string; readonly label: string };

export const steer = async (house: SteeredRegions, sdk: SdkWish, caller: Caller): Promise<Steered> => {
  const defaultHeaders = { "x-forwarded-for": caller.from };
  const client = new OpenAI({ ...sdk, baseURL: `${house.frontUrl()}/v1`, defaultHeaders });
  const body = { model: SIMULATED_ALIAS, conversation: caller.conversation };
  const steered = await client.post<Steered>("/steer", { body });
  assert.match(steered.pinned_base_url, /^https:\/\/p1[a-v0-9]{40}\.c\.llm\.test:\d+\/v1$/);
  return steered;
};
