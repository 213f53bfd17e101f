/** The last step of an order: its name is typed, then the button works. */
import type { OrderEffects } from "#gtm/wire/admin/order-effects.ts";
import type { Planned } from "./use-planned.ts";

type Wish = {
  readonly planned: Planned<OrderEffects>;
  /** What has to be typed. */
  readonly name: string;
  readonly title: string;
  readonly ifMatch: string | null;
};

export const ConfirmOrder = ({ planned, name, title, ifMatch }: Wish) => {
  const isForbidden = (planned.plan?.violations.length ?? 0) > 0;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void planned.give(ifMatch);
      }}
    >
      <label>
        <span>
          Type <strong>{name}</strong> to order it
        </span>
        <input value={planned.typed} autocomplete="off" onInput={(event) => planned.type(event.currentTarget.value)} />
      </label>
      <button type="submit" class="danger" disabled={planned.typed !== name || isForbidden}>
        {title}
      </button>
    </form>
  );
};

/** What was said against it. */
export const OrderRefusal = ({ planned }: { readonly planned: Planned<OrderEffects> }) =>
  planned.failure === null ? null : (
    <p class="box bad" role="alert">
      {planned.failure.detail}
    </p>
  );
