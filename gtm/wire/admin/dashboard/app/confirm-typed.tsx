/** The last step of something that changes the world: its name is typed, then the button works. */
import { useState } from "preact/hooks";

type Wish = {
  /** What has to be typed. */
  readonly name: string;
  readonly title: string;
  readonly onConfirm: () => Promise<void>;
};

export const ConfirmTyped = ({ name, title, onConfirm }: Wish) => {
  const [typed, setTyped] = useState("");
  const [isDoing, setIsDoing] = useState(false);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        setIsDoing(true);
        void onConfirm().finally(() => setIsDoing(false));
      }}
    >
      <label>
        <span>
          Type <strong>{name}</strong> to order it
        </span>
        <input value={typed} autocomplete="off" onInput={(event) => setTyped(event.currentTarget.value)} />
      </label>
      <button type="submit" class="danger" disabled={typed !== name || isDoing}>
        {title}
      </button>
    </form>
  );
};
