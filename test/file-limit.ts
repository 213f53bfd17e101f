/** Loaded into every test file's process: one that does not end is named and ended, where the runner would wait for it forever. */

const LIMIT_MS = 240_000;

const fail = (): void => {
  const open = process.getActiveResourcesInfo().join(", ");
  process.stderr.write(`${process.argv[1]} did not end within ${LIMIT_MS / 1_000} s; still open: ${open}\n`);
  process.exit(1);
};

// The runner itself loads this too, and lasts as long as all files together.
if (process.env["NODE_TEST_CONTEXT"] !== undefined) setTimeout(fail, LIMIT_MS).unref();
