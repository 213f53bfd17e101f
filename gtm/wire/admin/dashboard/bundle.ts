/** Makes the page of its sources: one script and one style sheet, parts that are fetched when they are drawn, nothing from outside. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

export type Asset = {
  readonly type: string;
  readonly etag: string;
  readonly plain: Buffer;
  readonly gzip: Buffer;
  readonly brotli: Buffer;
};

/** By path. */
export type Bundle = ReadonlyMap<string, Asset>;

const HERE = import.meta.dirname;
const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

/** @throws what esbuild throws where a source is faulty or its program cannot run */
export const makeBundle = async (): Promise<Bundle> => {
  // Loaded when first needed: a GTM whose page nobody opens needs none of it.
  const { build, stop } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: [join(HERE, "app", "main.tsx")],
    outdir: join(HERE, "out"),
    // What only the drawings need (the world's outline, the plots) is of no use before the tables are there.
    splitting: true,
    chunkNames: "parts/[name]-[hash]",
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "eof",
    logLevel: "silent",
  });
  await stop();
  const made = outputFiles.map(
    ({ path, contents }) => [`/${relative(join(HERE, "out"), path)}`, Buffer.from(contents)] as const,
  );
  const kept = await Promise.all(
    ["index.html", "icon.svg"].map(async (name) => [`/${name}`, await readFile(join(HERE, name))] as const),
  );
  const assets = await Promise.all(
    [...made, ...kept].map(async ([path, octets]) => [path, await assetOf(path, octets)] as const),
  );
  return new Map(assets);
};

const assetOf = async (path: string, plain: Buffer): Promise<Asset> => ({
  type: TYPES[path.split(".").at(-1) ?? ""] ?? "application/octet-stream",
  etag: `"${createHash("sha256").update(plain).digest("base64url").slice(0, 16)}"`,
  plain,
  gzip: await promisify(gzip)(plain, { level: 9 }),
  // The best quality makes it 4 % smaller and takes ten times as long, for which whoever opens the page first would wait.
  brotli: await promisify(brotliCompress)(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
});
