/**
 * `node bin/node.js scripts/bundle.ts [folder]`: puts the service and the packages that every start needs into one file,
 * main.js in dist/ or in another folder: less to read, to compile and to keep in memory than some hundreds of modules.
 *
 * Runs after each `npm ci`; the launcher takes the result as long as no file of src/ is newer. Without the bundler
 * (`npm ci --omit=dev`) there is no bundle, and the source runs: that must not fail an install.
 */
import { rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'esbuild'

/**
 * An `import` of node:http reads all that it exports, `WebSocket` among it, for which Node.js compiles its whole copy of
 * undici: 45 of 376 ms of the processor at each start. `require` reads only what is used.
 */
const requireHttp: Plugin = {
  name: 'require-http',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^node:https?$/ }, ({ kind, path }) =>
      kind === 'import-statement' ? { path, namespace: 'required' } : { path, external: true },
    )
    onLoad({ filter: /.*/, namespace: 'required' }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)})`,
      loader: 'js',
    }))
  },
}

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = resolve(process.argv[2] ?? `${root}/dist`)

try {
  rmSync(folder, { recursive: true, force: true })
  const { build } = await import('esbuild')
  await build({
    absWorkingDir: root,
    // The others are started by the names of their files: the thread of the message log, and isolated processes.
    entryPoints: {
      main: 'src/main.ts',
      'message-worker': 'src/adapters/sqlite/message-worker.ts',
      'isolated-process': 'src/isolation/isolated-process.ts',
    },
    outdir: folder,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    // Loaded only where a setting or a document asks for them, as they are.
    plugins: [requireHttp],
    external: ['@platformatic/kafka', 'jose', 'pg', 'prom-client'],
    // The packages written in CommonJS ask for Node's own modules by it.
    banner: {
      js: "import * as nodeModule from 'node:module'; const require = nodeModule.createRequire(import.meta.url);",
    },
    // Of a text with one character beyond ASCII, Node.js keeps two bytes for each.
    legalComments: 'none',
    logLevel: 'warning',
  })
} catch (thrown) {
  rmSync(folder, { recursive: true, force: true })
  process.stderr.write(`No bundle was made, so the service will run from its source: ${(thrown as Error).message}\n`)
}
