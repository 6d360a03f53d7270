/** Writes docs/failures.md from the table of failures. `--check` compares instead. */
import { fileURLToPath } from 'node:url'
import { FAILURES } from '../src/core/failure-table.ts'
import { generate, generatedBy } from './generated.ts'

const INTRODUCTION = `${generatedBy('scripts/docs-failures.ts')}
# Failures

A failure is answered in this shape, or as an [OperationOutcome](#operationoutcomes-of-fhir):

| field | holds |
|---|---|
| \`error\` | one sentence: the fault and its remedy |
| \`code\` | one of the codes below; programs should look at this, not at \`error\` |
| \`stage\` | the stage of the pipeline that failed |
| \`path\` | the field of the endpoint document that failed, such as \`inputTransforms.age\` |
| \`messageId\` | the id of the message in the log |
| \`details\` | the single faults, if there can be several: each has \`path\` and \`message\` |

Fields that do not apply are left out. The answer comes in the endpoint's output type: as JSON, or as XML with the
same fields under \`<root>\`. Where no endpoint is known, as for an unknown path, or for a request that is refused before its
headers are complete and right (\`REQUEST_…\`, \`EXPECTATION_REFUSED\`, \`HEADERS_TOO_LARGE\`), it is JSON.

A code marked *yes* under "try again" may succeed later with the same message and the same configuration. An answer
with status 503 has the header \`Retry-After\` with the number of seconds to wait.

| code | status | try again | issue | meaning |
|---|---|---|---|---|
`

const OUTCOMES = `
## OperationOutcomes of FHIR

Where the output type is \`FHIR+JSON\`, every failure is a FHIR R4 OperationOutcome, \`application/fhir+json\`, with the code in the header
\`X-Crosswalk-Code\`. \`"failures": "fhir"\` does the same for an endpoint of any other output type, \`"fhirResponse": true\` in a lookup for
the failures of this lookup. \`"failures": "plain"\` keeps the shape above, in the output type, whatever lookups ask for.

\`\`\`json endpoint
{
  "name": "Patients",
  "endpoint": { "pattern": "/patients" },
  "transformation": { "input": "JSON", "output": "FHIR+JSON" },
  "inputValidation": {
    "required": ["name"],
    "properties": { "contact": { "items": { "properties": { "email": { "format": "email" } } } } }
  },
  "requests": { "lookup": [{ "id": "patient", "config": { "url": "http://127.0.0.1:8081/Patient" } }] }
}
\`\`\`

\`\`\`http
POST /patients

{ "contact": [{ "email": "none" }] }
\`\`\`

\`\`\`http call
GET http://127.0.0.1:8081/Patient

HTTP/1.1 200 OK
Content-Type: application/fhir+json

{}
\`\`\`

\`\`\`http
HTTP/1.1 400 Bad Request
Content-Type: application/fhir+json
X-Crosswalk-Code: VALIDATION_FAILED

{
  "resourceType": "OperationOutcome",
  "issue": [
    {
      "severity": "error",
      "code": "required",
      "details": {
        "coding": [{ "system": "urn:crosswalk:failure", "code": "VALIDATION_FAILED" }],
        "text": "/name is required"
      },
      "diagnostics": "messageId: 01a1fbe3faaa000082c722af; stage: validate; path: inputValidation.required[0]; pointer: /name",
      "expression": ["name"]
    },
    {
      "severity": "error",
      "code": "value",
      "details": {
        "coding": [{ "system": "urn:crosswalk:failure", "code": "VALIDATION_FAILED" }],
        "text": "/contact/0/email must be a valid email"
      },
      "diagnostics": "messageId: 01a1fbe3faaa000082c722af; stage: validate; path: inputValidation.required[0]; pointer: /contact/0/email",
      "expression": ["contact[0].email"]
    }
  ]
}
\`\`\`

- There is one issue for each of the \`details\`, and one for a failure without any. \`severity\` is \`error\`, for \`INTERNAL\` \`fatal\`.
- \`diagnostics\` holds the message id, the stage, the path in the endpoint document (of a validation: the keyword that failed first) and the
  JSON Pointer of the fault, as far as they are known.
- \`expression\` is the field of the body as FHIRPath. It is left out where a name of the body cannot stand in a path of FHIR, and for
  faults that are not in the body.
- \`code\` is the issue type of the table above. If the code may be tried again, it is one of the types below \`transient\` in FHIR.

The issue of a validation depends on the keyword of the schema; a message of \`errorMessage\` has the type of the keywords that it replaces,
or \`invariant\` if these have several:

| issue | keywords |
|---|---|
| \`required\` | \`required\` |
| \`value\` | those about one value: \`type\`, \`enum\`, \`const\`, \`format\`, \`pattern\`, \`multipleOf\`, and all bounds (\`minimum\`, \`maxLength\`, \`minItems\`, …) |
| \`invariant\` | all others: \`not\`, \`oneOf\`, \`anyOf\`, \`dependencies\`, \`uniqueItems\`, \`additionalProperties\`, \`contains\`, … |

The issue of a refusal depends on the status that the other system answered with:

| status | issue |
|---|---|
| 401 | \`security\` |
| 403 | \`forbidden\` |
| 404 | \`not-found\` |
| 409, 412 | \`conflict\` |
| 410 | \`deleted\` |
| 429 | \`throttled\` |
| other 4xx | \`processing\` |
| 504 | \`timeout\` |
| other 5xx, and a status that is no failure | \`transient\` |

The status also decides whether a refused lookup may be tried again: a 5xx may, a 4xx may not. So a 429 counts as refused, though its
issue is \`throttled\`; the [retries](requests.md#time-and-retries) of the lookup itself wait as its \`Retry-After\` says.

If a lookup was refused with an OperationOutcome in JSON of at most 256 KiB, its issues come first, unchanged, and ours is the last:

\`\`\`http
POST /patients

{ "name": "Doe" }
\`\`\`

\`\`\`http call
GET http://127.0.0.1:8081/Patient

HTTP/1.1 410 Gone
Content-Type: application/fhir+json

{"resourceType":"OperationOutcome","issue":[{"severity":"error","code":"deleted","diagnostics":"Deleted in 2020."}]}
\`\`\`

\`\`\`http
HTTP/1.1 410 Gone
Content-Type: application/fhir+json
X-Crosswalk-Code: LOOKUP_REFUSED

{
  "resourceType": "OperationOutcome",
  "issue": [
    { "severity": "error", "code": "deleted", "diagnostics": "Deleted in 2020." },
    {
      "severity": "error",
      "code": "deleted",
      "details": {
        "coding": [{ "system": "urn:crosswalk:failure", "code": "LOOKUP_REFUSED" }],
        "text": "The lookup \\"patient\\" answered with status 410: {\\"resourceType\\":\\"OperationOutcome\\",\\"issue\\":[{\\"severity\\":\\"error\\",\\"code\\":\\"deleted\\",\\"diagnostics\\":\\"Deleted in 2020.\\"}]}"
      },
      "diagnostics": "messageId: 01a1fbe3faaa000082c722b0; stage: lookup; path: requests.lookup[0]"
    }
  ]
}
\`\`\`

Issues that FHIR R4 does not know, such as those of R5 with \`"severity": "success"\`, are left out; the values of extensions are not checked.
White space other than spaces, tabs and line ends, which the schema of R4 refuses in texts, becomes spaces.
Values of [secrets](security.md) in them are replaced by their references.
`

const rows = Object.entries(FAILURES).map(
  ([code, { status, retry, issue, means }]) =>
    `| \`${code}\` | ${status} | ${retry ? 'yes' : 'no'} | ${typeof issue === 'string' ? `\`${issue}\`` : 'by status'} | ${means} |\n`,
)

generate([
  {
    path: fileURLToPath(new URL('../docs/failures.md', import.meta.url)),
    text: INTRODUCTION + rows.join('') + OUTCOMES,
  },
])
