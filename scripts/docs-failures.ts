/** Writes docs/failures.md from the table of failures. `--check` compares instead. */
import { fileURLToPath } from 'node:url'
import { FAILURES } from '../src/domain/failure-table.ts'
import { generate, generatedBy } from './generated.ts'

const INTRODUCTION = `${generatedBy('scripts/docs-failures.ts')}
# Failures

Every failure is answered in one shape:

| field | holds |
|---|---|
| \`error\` | one sentence: the fault and its remedy |
| \`code\` | one of the codes below; programs should look at this, not at \`error\` |
| \`stage\` | the stage of the pipeline that failed |
| \`path\` | the field of the endpoint document that failed, such as \`inputTransforms.age\` |
| \`messageId\` | the id of the message in the log |
| \`details\` | the single faults, if there can be several: each has \`path\` and \`message\` |

Fields that do not apply are left out. The answer comes in the endpoint's output type: as JSON, or as XML with the
same fields under \`<root>\`. A lookup with \`fhirResponse\` has its failures answered as a FHIR R4 OperationOutcome.
Without an endpoint, as for an unknown path or an incomplete request (\`REQUEST_…\`, \`EXPECTATION_REFUSED\`,
\`HEADERS_TOO_LARGE\`), it is JSON.

A code marked *yes* under "try again" may succeed later with the same message and the same configuration. An answer
with status 503 has the header \`Retry-After\` with the number of seconds to wait.

| code | status | try again | meaning |
|---|---|---|---|
`

const rows = Object.entries(FAILURES).map(
  ([code, { status, retry, means }]) => `| \`${code}\` | ${status} | ${retry ? 'yes' : 'no'} | ${means} |\n`,
)

generate([{ path: fileURLToPath(new URL('../docs/failures.md', import.meta.url)), text: INTRODUCTION + rows.join('') }])
