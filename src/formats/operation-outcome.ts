/** Failures as OperationOutcomes of FHIR R4: https://hl7.org/fhir/R4/operationoutcome.html. */
import type { Failure, FailureDetail } from '../core/failure.ts'
import type { JsonObject } from '../core/json.ts'
import { MEDIA_TYPES } from './codecs.ts'

export const OUTCOME_MEDIA_TYPE = MEDIA_TYPES['FHIR+JSON']

/** The system of the codes of failures in `details.coding`. */
const CODE_SYSTEM = 'urn:crosswalk:failure'

/** One issue for each detail of the failure, after the issues of the system that refused. */
export function toOperationOutcome(failure: Failure, messageId: string): JsonObject {
  const { details = [], issues = [] } = failure.options
  const own =
    details.length === 0 ? [toIssue(failure, messageId)] : details.map((one) => toIssue(failure, messageId, one))
  return { resourceType: 'OperationOutcome', issue: [...issues, ...own] }
}

function toIssue(failure: Failure, messageId: string, detail?: FailureDetail): JsonObject {
  const { message, code, kind, stage, issue } = failure
  const text = fhirText(detail === undefined ? message : formatSentence(detail))
  const { ownDetailsText: details, options } = failure
  const facts = Object.entries({ messageId, stage, path: options.path, pointer: detail?.path, details })
  const known = facts.flatMap(([name, fact]) => (fact === undefined || fact === '' ? [] : [`${name}: ${fact}`]))
  const expression = toFhirPath(detail?.inBody)
  return {
    severity: kind.bug ? 'fatal' : 'error',
    code: detail?.issue ?? issue,
    details: { coding: [{ system: CODE_SYSTEM, code }], text: text === '' ? code : text },
    ...(known.length === 0 ? {} : { diagnostics: fhirText(known.join('; ')) }),
    ...(expression === undefined ? {} : { expression: [expression] }),
  }
}

const formatSentence = ({ path, message, isSentence }: FailureDetail): string =>
  isSentence ? message : `${path === '' ? 'The message' : path} ${message}`

/** Other white space, and what no text may hold (https://hl7.org/fhir/R4/datatypes.html#string). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to replace.
const NOT_IN_TEXT = /[\u0000-\u0008\u000b-\u000c\u000e-\u001f]|[^\S \t\r\n]/g

/** A text that the schema of FHIR R4 takes, unless it is empty or all spaces. */
export const plainSpaces = (text: string): string => text.toWellFormed().replace(NOT_IN_TEXT, ' ')

const fhirText = (text: string): string => plainSpaces(text).trim()

/** Words of FHIRPath that aren't names (http://hl7.org/fhirpath/N1/grammar.html). */
const RESERVED = /^(?:and|div|false|implies|mod|or|true|xor)$/

/** The elements of a JSON Pointer as FHIRPath; undefined for a pointer to the whole, or if it cannot hold a name. */
function toFhirPath(pointer: string | undefined): string | undefined {
  if (pointer === undefined || pointer === '') return undefined
  let expression = ''
  for (const name of pointer.slice(1).split('/')) {
    if (/^\d+$/.test(name) && expression !== '') expression += `[${name}]`
    else if (/^[A-Za-z_]\w*$/.test(name) && !RESERVED.test(name)) expression += `${expression === '' ? '' : '.'}${name}`
    else return undefined
  }
  return expression
}
