/** From when on a first token counts as late, wherever late ones are counted: metrics, API, page and reports. */

/** Past three seconds people leave. */
export const LATE_FIRST_TOKEN_MS = 3_000;
