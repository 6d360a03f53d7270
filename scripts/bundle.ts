/**
 * `node bin/node.js scripts/bundle.ts [folder]`: bundles the service and the packages that every start needs into dist/ or
 * another folder: one file is faster to read and compile than several hundred modules, and takes less memory.
 *
 * Runs after each `npm ci`; the launcher uses the bundle while no file of src/ and migrate/ is newer. Without the bundler
 * (`npm ci --omit=dev`) there is no bundle, and the source runs: an install must not fail because of it.
 */
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BuildOptions, Plugin } from 'esbuild'
import { keepCode } from './code-cache.ts'
import { readShapes } from './fhir-shapes.ts'

/** Undici loads its HTTP/2 client at every start, and the service never uses HTTP/2. */
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

/** The bundler follows only CommonJS's own `require`. */
const plainRequire: Plugin = {
  name: 'plain-require',
  setup: ({ onLoad }) => {
    onLoad({ filter: /src.outbound.http.[\w-]+\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace('const require = createRequire(import.meta.url)\n', ''),
      loader: 'ts',
    }))
  },
}

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = resolve(process.argv[2] ?? `${root}/dist`)

/** Fastify loads these for routes with schemas and for tests; no route here has a schema. */
const UNUSED = ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler', 'light-my-request']

const OWN_URL = "const ownUrl = require('node:url').pathToFileURL(__filename).href;"

const COMMON: BuildOptions = {
  absWorkingDir: root,
  outdir: folder,
  bundle: true,
  platform: 'node',
  // An `import` of a module of Node.js reads all its exports, which loads parts that are never used (its own undici, for the
  // `WebSocket` of node:http); `require` reads only the used ones.
  format: 'cjs',
  target: 'node24',
  // Not bundled: loaded only if a setting or a document requires them, the last ones never.
  external: ['@opentelemetry/*', '@platformatic/kafka', 'jose', 'pg', 'prom-client', ...UNUSED],
  plugins: [onlyWhereUsed, plainRequire],
  define: { 'import.meta.url': 'ownUrl' },
  logLevel: 'warning',
}

/**
 * The bundler escapes characters beyond ASCII in strings, but not in patterns and comments. main.js reads one byte for each
 * character, because Node.js would store other text with two.
 */
function asAscii(file: string): void {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  writeFileSync(file, readFileSync(file, 'utf8').replace(/[^\0-\x7f]/g, escaped))
}

/** A service without the packages of the shapes lacks nothing else. */
function keepShapes(): void {
  try {
    writeFileSync(`${folder}/fhir-r4.json`, JSON.stringify(readShapes()))
  } catch (thrown) {
    process.stderr.write(`The fields of FHIR R4 were not stored: ${(thrown as Error).message}\n`)
  }
}

try {
  rmSync(folder, { recursive: true, force: true })
  const { build } = await import('esbuild')
  await build({
    ...COMMON,
    entryPoints: { service: 'src/main.ts' },
    // A function, as Node.js wraps modules of CommonJS: main.js calls it.
    banner: { js: `(function (exports, require, module, __filename, __dirname) { ${OWN_URL}` },
    footer: { js: '})' },
  })
  await build({
    ...COMMON,
    // Started by file name: the threads of the message log and of large tables, and isolated processes.
    entryPoints: {
      'message-worker': 'src/store/sqlite/message-worker.ts',
      'table-worker': 'src/tables/table-worker.ts',
      'isolated-process': 'src/sandbox/isolated-process.ts',
    },
    banner: { js: OWN_URL },
  })
  for (const name of ['service', 'message-worker', 'table-worker', 'isolated-process']) asAscii(`${folder}/${name}.js`)
  writeFileSync(`${folder}/package.json`, '{ "type": "commonjs" }\n')
  keepShapes()
  copyFileSync(`${root}/scripts/bundle-main.cjs`, `${folder}/main.js`)
  await keepCode(folder).catch((thrown: Error) => {
    process.stderr.write(`No compiled code was stored, so each start will compile: ${thrown.message}\n`)
  })
} catch (thrown) {
  rmSync(folder, { recursive: true, force: true })
  process.stderr.write(`No bundle was made, so the service will run from its source: ${(thrown as Error).message}\n`)
}

// npm's own Node.js, which may be older; the user of `npm ci` then wonders which one runs the service.
const [, own = process.versions.node] = /\bnode\/v(\S+)/.exec(process.env.npm_config_user_agent ?? '') ?? []
if (process.env.npm_lifecycle_event === 'dependencies' && own !== process.versions.node)
  console.log(`Node.js ${process.versions.node} is installed for the service; that of the machine stays ${own}.`)
