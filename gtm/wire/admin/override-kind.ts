/** What an override does to its region, in a word or two, for page and command line. */

/** "deny", "share 0.2" */
export const kindText = ({
  kind,
  share,
}: {
  readonly kind: string;
  readonly share?: number | null | undefined;
}): string => (share === null || share === undefined ? kind : `${kind} ${share}`);
