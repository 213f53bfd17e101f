/** `${NAME}` and `${NAME:-default}` in configured text; `$${` stands for `${` itself. */

export type Environment = Readonly<Record<string, string | undefined>>;

export type Substituted =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "fault"; readonly message: string };

const REFERENCE = /\$\$\{|\$\{([^}]*)(\}?)/g;
const CONTENT = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;

/**
 * As the shell does it: the default also stands in for an empty variable. A variable's value is taken as it is, references
 * in it are not followed.
 *
 * @returns a fault where a variable without default is missing or a reference is malformed; never the value of a variable in it
 */
export const substituteEnvironment = (text: string, env: Environment): Substituted => {
  const faults: string[] = [];
  const substituted = text.replaceAll(REFERENCE, (reference, content: string | undefined, end: string | undefined) => {
    if (content === undefined) return "${";
    const [, name = "", fallback] = CONTENT.exec(content) ?? [];
    if (name === "" || end === "") {
      faults.push(`"${reference}" is not a reference such as \${NAME} or \${NAME:-default}`);
      return "";
    }
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value !== undefined && (value !== "" || fallback === undefined)) return value;
    if (fallback === undefined) faults.push(`the environment variable ${name} is not set and has no default`);
    return fallback ?? "";
  });
  return faults.length === 0 ? { kind: "text", text: substituted } : { kind: "fault", message: faults.join("; ") };
};
