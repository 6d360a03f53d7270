/**
 * `node bin/node.js scripts/bundle.ts [folder]`: puts the service and the packages that every start needs into one file,
 * main.js in dist/ or in another folder: less to read, to compile and to keep in memory than some hundreds of modules.
 *
 * Runs after each `npm ci`; the launcher takes the result as long as no file of src/ is newer. Without the bundler
 * (`npm ci --omit=dev`) there is no bundle, and the source runs: that must not fail an install.
 */
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BuildOptions, Plugin } from 'esbuild'
import { keepCode } from './code-cache.ts'

/** Undici loads it at every start for HTTP/2, which nobody asks it for. */
const onlyWhereUsed: Plugin = {
  name: 'only-where-used',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /client-h2\.js$/ }, ({ path, namespace, resolveDir }) =>
      namespace === 'file' ? { path, namespace: 'only-where-used', pluginData: resolveDir } : undefined,
    )
    onLoad({ filter: /.*/, namespace: 'only-where-used' }, ({ path, pluginData }) => ({
      contents: `module.exports = (...values) => require(${JSON.stringify(path)})(...values)`,
      resolveDir: pluginData,
    }))
  },
}

/** The bundler follows only the `require` of CommonJS. */
const plainRequire: Plugin = {
  name: 'plain-require',
  setup: ({ onLoad }) => {
    onLoad({ filter: /src.adapters.http-client.[\w-]+\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace('const require = createRequire(import.meta.url)\n', ''),
      loader: 'ts',
    }))
  },
}

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = resolve(process.argv[2] ?? `${root}/dist`)

/** What Fastify would load to check and write by schemas, and for tests: no route has a schema. */
const UNUSED = ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler', 'light-my-request']

const OWN_URL = "const ownUrl = require('node:url').pathToFileURL(__filename).href;"

const COMMON: BuildOptions = {
  absWorkingDir: root,
  outdir: folder,
  bundle: true,
  platform: 'node',
  // An `import` of a module of Node.js reads all that it exports, and so loads what it would load only for who asks for
  // it (its own copy of undici, for the `WebSocket` of node:http); `require` reads what is used.
  format: 'cjs',
  target: 'node24',
  // Loaded only where a setting or a document asks for them, as they are; the last ones never.
  external: ['@opentelemetry/*', '@platformatic/kafka', 'jose', 'pg', 'prom-client', ...UNUSED],
  plugins: [onlyWhereUsed, plainRequire],
  define: { 'import.meta.url': 'ownUrl' },
  logLevel: 'warning',
}

/**
 * The bundler escapes what is beyond ASCII in strings, but not in patterns and comments. main.js reads one byte a
 * character: of a text with more, Node.js keeps two bytes for each.
 */
function asAscii(file: string): void {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  writeFileSync(file, readFileSync(file, 'utf8').replace(/[^\0-\x7f]/g, escaped))
}

try {
  rmSync(folder, { recursive: true, force: true })
  const { build } = await import('esbuild')
  await build({
    ...COMMON,
    entryPoints: { service: 'src/main.ts' },
    // A function, as a module of CommonJS is for Node.js: main.js calls it.
    banner: { js: `(function (exports, require, module, __filename, __dirname) { ${OWN_URL}` },
    footer: { js: '})' },
  })
  await build({
    ...COMMON,
    // Started by the names of their files: the thread of the message log, and isolated processes.
    entryPoints: {
      'message-worker': 'src/adapters/sqlite/message-log/message-worker.ts',
      'isolated-process': 'src/isolation/isolated-process.ts',
    },
    banner: { js: OWN_URL },
  })
  for (const name of ['service.js', 'message-worker.js', 'isolated-process.js']) asAscii(`${folder}/${name}`)
  writeFileSync(`${folder}/package.json`, '{ "type": "commonjs" }\n')
  copyFileSync(`${root}/scripts/bundle-main.cjs`, `${folder}/main.js`)
  await keepCode(folder).catch((thrown: Error) => {
    process.stderr.write(`No compiled code was kept, so each start will compile it: ${thrown.message}\n`)
  })
} catch (thrown) {
  rmSync(folder, { recursive: true, force: true })
  process.stderr.write(`No bundle was made, so the service will run from its source: ${(thrown as Error).message}\n`)
}
