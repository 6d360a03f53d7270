/**
 * The programs of the benchmark as plain JavaScript, as the service's own bundle is: a server that had to strip its types
 * at its start would look slower and larger than it is.
 */
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'

/** Below node_modules, so that they find their packages; it is not kept by git and goes with `npm ci`. */
const FOLDER = fileURLToPath(new URL('../../node_modules/.cache/crosswalk-bench', import.meta.url))

const PROGRAMS = {
  bare: 'servers/bare.ts',
  'bare-inserts': 'servers/bare-inserts.ts',
  fastify: 'servers/fastify.ts',
  upstream: 'servers/upstream.ts',
  'load-generator': 'load/load-generator.ts',
  parts: 'costs/parts.ts',
}

let isBuilt = false

/** The file to run. The first call builds all of them. */
export function built(program: keyof typeof PROGRAMS): string {
  if (!isBuilt) build()
  isBuilt = true
  return `${FOLDER}/${program}.mjs`
}

function build(): void {
  buildSync({
    absWorkingDir: fileURLToPath(new URL('..', import.meta.url)),
    entryPoints: PROGRAMS,
    outdir: FOLDER,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node24',
    logLevel: 'warning',
  })
}
