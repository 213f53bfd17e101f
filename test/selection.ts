/** Which test files a run is about. */

/**
 * @param files paths from the top of the repository, with slashes
 * @param filters parts of paths; none: all files
 * @returns in the order of the files; `idle`: filters that fit nothing, which is a mistake and not an empty success
 */
export const chooseFiles = (
  files: readonly string[],
  filters: readonly string[],
): { readonly chosen: readonly string[]; readonly idle: readonly string[] } => {
  const wanted = filters.map((filter) => filter.replace(/^\.\//, ""));
  const idle = wanted.filter((filter) => !files.some((file) => file.includes(filter)));
  const chosen = wanted.length === 0 ? files : files.filter((file) => wanted.some((filter) => file.includes(filter)));
  return { chosen, idle };
};
