/** What is shown instead of data, or above it: loading, empty, forbidden, away, stale; each looks different. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { setToken } from "./api.ts";
import { age } from "./quantity.ts";
import type { Known } from "./use-api.ts";
import { useNow } from "./use-now.ts";

/** Older than this much and asked for all the same, data is called stale. */
const STALE_AFTER_MS = 10_000;

type Wish<Body> = {
  readonly known: Known<Body>;
  /** What this is about, in the middle of a sentence. */
  readonly what: string;
  readonly children: (body: Body) => ComponentChildren;
};

export const WithState = <Body,>({ known, what, children }: Wish<Body>) => {
  const { body, atMs, failure } = known;
  const nowMs = useNow();
  if (body === null) {
    if (failure?.kind === "forbidden") return <Forbidden detail={failure.detail} />;
    if (failure !== null)
      return (
        <p class="box bad" role="alert">
          {failure.detail}
        </p>
      );
    return (
      <p class="box waiting" aria-busy="true">
        Asking for {what}.
      </p>
    );
  }
  const oldMs = atMs === null ? 0 : nowMs - atMs;
  return (
    <>
      {failure !== null && oldMs > STALE_AFTER_MS && (
        <p class="box stale" role="alert">
          {failure.detail} The {what} below is {age(oldMs)} old.
        </p>
      )}
      <div class={failure !== null && oldMs > STALE_AFTER_MS ? "old" : undefined}>{children(body)}</div>
    </>
  );
};

export const Empty = ({ children }: { readonly children: ComponentChildren }) => <p class="box empty">{children}</p>;

export const Forbidden = ({ detail }: { readonly detail: string }) => {
  const [text, setText] = useState("");
  const enter = (event: SubmitEvent): void => {
    event.preventDefault();
    setToken(text.trim());
    location.reload();
  };
  return (
    <form class="box forbidden" onSubmit={enter}>
      <p role="alert">{detail}</p>
      <label>
        Token (kept for this tab only; <code>gtm token create</code> makes one){" "}
        <input
          type="password"
          autocomplete="off"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>{" "}
      <button type="submit">Use it</button>
    </form>
  );
};
