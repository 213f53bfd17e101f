/** Text of the store as JSON, for those whose schema then says what is wrong with it. */

/** @returns null: it is none */
export const jsonOrNull = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};
