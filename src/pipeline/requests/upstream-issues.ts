/** The OperationOutcome of another system: its issues come before ours. */
import { ISSUE_TYPES } from '../../core/failure-kind.ts'
import { changeTexts, isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { OutboundAnswer } from '../../core/ports/http-client-port.ts'
import { detect } from '../../formats/codecs.ts'
import { plainSpaces } from '../operation-outcome.ts'
import { asText } from './upstream-content.ts'

/** Bytes. A larger outcome is left out: the answer to the sender would be as large. */
const OUTCOME_LIMIT = 262_144

/**
 * Out: the issues of an answer that is an OperationOutcome in JSON, unchanged but for their white space, without those that are
 * not valid in FHIR R4.
 */
export function issuesOf(answer: OutboundAnswer): readonly JsonObject[] {
  const text = answer.body.byteLength > OUTCOME_LIMIT ? undefined : asText(answer)
  const outcome = text === undefined ? undefined : detect(text)?.value
  if (!isObject(outcome) || outcome.resourceType !== 'OperationOutcome' || !Array.isArray(outcome.issue)) return []
  // Typography such as a no-break space must not cost an issue.
  return outcome.issue.map((issue) => changeTexts(issue, plainSpaces)).filter(isIssue)
}

const SEVERITIES: ReadonlySet<Json | undefined> = new Set(['fatal', 'error', 'warning', 'information'])
const TYPES: ReadonlySet<Json | undefined> = new Set(ISSUE_TYPES)

type Check = (value: Json) => boolean

const isText: Check = (value) => typeof value === 'string' && /^[ \r\n\t\S]+$/.test(value)
const isWord: Check = (value) => typeof value === 'string' && /^\S+(?:\s\S+)*$/.test(value)
const isUri: Check = (value) => typeof value === 'string' && /^\S+$/.test(value)
const isFlag: Check = (value) => typeof value === 'boolean'
const isList =
  (isItem: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(isItem)

/** Whether a value is an object whose members are known and pass. */
const isElement =
  (members: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isObject(value) &&
    Object.entries(value).every(([name, member]) => Object.hasOwn(members, name) && members[name]?.(member))

/** The value of an extension can have any type of FHIR, and is not checked. */
const isExtension: Check = (value) =>
  isObject(value) &&
  isUri(value.url ?? null) &&
  Object.entries(value).every(
    ([name, member]) =>
      name === 'url' ||
      /^value[A-Z]\w*$/.test(name) ||
      (name === 'id' && isText(member)) ||
      (name === 'extension' && areExtensions(member)),
  )
const areExtensions = isList(isExtension)
const ELEMENT = { id: isText, extension: areExtensions }
const isPlainElement = isElement(ELEMENT)

/** Members of primitive types; the extensions of `name` are in `_name` (https://hl7.org/fhir/R4/json.html#primitive). */
const primitives = (members: Readonly<Record<string, Check>>): Readonly<Record<string, Check>> => ({
  ...members,
  ...Object.fromEntries(Object.keys(members).map((name) => [`_${name}`, isPlainElement])),
})

const isCoding = isElement({
  ...ELEMENT,
  ...primitives({ system: isUri, version: isText, code: isWord, display: isText, userSelected: isFlag }),
})

const hasKnownMembers = isElement({
  ...ELEMENT,
  ...primitives({
    severity: (value) => SEVERITIES.has(value),
    code: (value) => TYPES.has(value),
    diagnostics: isText,
  }),
  modifierExtension: areExtensions,
  details: isElement({ ...ELEMENT, ...primitives({ text: isText }), coding: isList(isCoding) }),
  location: isList(isText),
  _location: isList(isPlainElement),
  expression: isList(isText),
  _expression: isList(isPlainElement),
})

const isIssue = (value: Json): value is JsonObject =>
  isObject(value) && hasKnownMembers(value) && value.severity !== undefined && value.code !== undefined
