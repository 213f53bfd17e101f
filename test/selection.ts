/** Which test files a run is about. */

/**
 * @param files paths from the top of the repository, with slashes
 * @param filters parts of paths; none: all files
 * @returns in the order of the files; a filter that fits none is a mistake, not an empty success
 * @throws {Error} naming the filters that fit nothing
 */
export const chosenFiles = (files: readonly string[], filters: readonly string[]): readonly string[] => {
  const wanted = filters.map((filter) => filter.replace(/^\.\//, ""));
  const idle = wanted.filter((filter) => !files.some((file) => file.includes(filter)));
  if (idle.length > 0) throw new Error(`no test file fits ${idle.join(", ")}`);
  return wanted.length === 0 ? files : files.filter((file) => wanted.some((filter) => file.includes(filter)));
};
