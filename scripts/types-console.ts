/** Writes console/src/api/schema.ts, the types of /openapi.json that the console's calls are checked by. `--check` compares instead. */
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { describeApi } from '../src/api/openapi.ts'
import { describeDocument } from '../src/config/schema/public-schema.ts'
import { generate } from './generated.ts'

// openapi-typescript prints with the compiler's JavaScript API, which TypeScript 7 no longer has; a package of TypeScript 5
// itself would replace the command `tsc`.
const compiler = `export { ts as default } from ${JSON.stringify(import.meta.resolve('@ts-morph/common'))}`
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'typescript'
      ? { url: `data:text/javascript,${encodeURIComponent(compiler)}`, format: 'module', shortCircuit: true }
      : next(specifier, context),
})
const { default: openapiTS, astToString } = await import('openapi-typescript')

// The version would change the file at every release.
const types = await openapiTS(JSON.stringify(describeApi(describeDocument(), '0.0.0')), { defaultNonNullable: false })

generate([
  {
    path: fileURLToPath(new URL('../console/src/api/schema.ts', import.meta.url)),
    text: `/** Written by scripts/types-console.ts: change that, not this. */\n${astToString(types)}`,
  },
])
