/** Writes docs/failures.md from the table of failures. `--check` compares instead. */
import { fileURLToPath } from 'node:url'
import { FAILURES } from '../src/core/failure-table.ts'
import { generate, generatedBy } from './generated.ts'

const INTRODUCTION = `${generatedBy('scripts/docs-failures.ts')}
# Failures

A failure is answered in this shape, or as an [OperationOutcome](#operationoutcomes-of-fhir):

| field | contains |
|---|---|
| \`error\` | one sentence: the fault and its remedy |
| \`code\` | one of the codes below; programs should use this, not \`error\` |
| \`stage\` | the stage of the pipeline that failed |
| \`path\` | the field of the endpoint document that failed, such as \`inputTransforms.age\` |
| \`messageId\` | the id of the message in the log |
| \`details\` | the single faults, if there can be several: each has \`path\` and \`message\` |

Fields that do not apply are left out. The answer has the endpoint's output type: JSON, or XML with the
same fields under \`<root>\`. It is JSON if the path is unknown, and for a request that is refused before its
headers are complete and valid (\`REQUEST_…\`, \`EXPECTATION_REFUSED\`, \`HEADERS_TOO_LARGE\`).

A code marked *yes* under "try again" may succeed later with the same message and the same configuration. An answer
with status 503 has the header \`Retry-After\` with the number of seconds to wait.

| code | status | try again | issue | meaning |
|---|---|---|---|---|
`

const OUTCOMES = `
## OperationOutcomes of FHIR

If the output type is \`FHIR+JSON\`, every failure is a FHIR R4 OperationOutcome, \`application/fhir+json\`, with the code in the header
\`X-Crosswalk-Code\`. \`"failures": "fhir"\` has the same effect for an endpoint with any other output type, \`"fhirResponse": true\` in a lookup for
the failures of this lookup. An OperationOutcome is always JSON, even if the output type is XML. \`"failures": "plain"\` keeps the shape above, in
the output type, whatever lookups ask for.

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
- \`diagnostics\` contains the message id, the stage, the path in the endpoint document (for a validation, the keyword that failed first) and the
  JSON Pointer of the fault, as far as they are known.
- \`expression\` is the field of the body as FHIRPath. It is left out if a name in the body is not allowed in FHIRPath, and for
  faults that are not in the body.
- \`code\` is the issue type from the table above. If the failure may be tried again, it is one of the types below \`transient\` in FHIR.

The issue of a validation depends on the keyword of the schema; a text of \`errorMessage\` has the type of the keywords that it replaces,
or \`invariant\` if they have several:

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

The status also decides whether a refused lookup may be tried again: a 5xx may, a 4xx may not. So a 429 counts as refused, although its
issue is \`throttled\`; the [retries](requests.md#time-and-retries) of the lookup itself respect its \`Retry-After\`.

If a lookup was refused with an OperationOutcome in JSON of at most 256 KiB, its issues come first, unchanged, and Crosswalk's is the last:

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
        "text": "patient answered 410 to GET http://127.0.0.1:8081/Patient: Deleted in 2020."
      },
      "diagnostics": "messageId: 01a1fbe3faaa000082c722b0; stage: lookup; path: requests.lookup[0]"
    }
  ]
}
\`\`\`

Issues that are not valid in FHIR R4, such as those of R5 with \`"severity": "success"\`, are left out; the values of extensions are not checked.
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
