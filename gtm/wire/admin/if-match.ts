/** `If-Match`: whether a caller wants a thing changed only as it was seen (RFC 9110 §13.1.1). */

/** Absent or `*`: whatever it is by now. */
export const isAnyState = (ifMatch: string | null | undefined): boolean =>
  ifMatch === null || ifMatch === undefined || ifMatch === "*";
