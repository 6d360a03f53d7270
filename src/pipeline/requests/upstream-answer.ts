/**
 * Reads the answer of an upstream: its body, by its declared type, else by its content; its OperationOutcome; and what an
 * OpenHIM mediator wraps it in.
 */
import { isUtf8 } from 'node:buffer'
import { ISSUE_TYPES } from '../../core/failure-kind.ts'
import { FRAMING_HEADERS } from '../../core/http.ts'
import { changeTexts, isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { OutboundAnswer } from '../../core/ports/http-client-port.ts'
import { Unreadable } from '../../formats/body-faults.ts'
import type { Codec, ParserSettings } from '../../formats/codec.ts'
import {
  compileTypeCheck,
  detect,
  type FormatOptions,
  findAnyCodec,
  findCodec,
  NO_FORMAT,
} from '../../formats/codecs.ts'
import { isBinary, type MediaType, parseMediaType } from '../../formats/media-type.ts'
import { readWrapper } from '../../formats/openhim-wrapper.ts'
import { plainSpaces } from '../../formats/operation-outcome.ts'
import { decodeText } from '../../formats/text.ts'

export type Content = Readonly<{
  /** Known formats parsed, other text as text, other bytes as `{ contentType, base64 }`, null if there is no body. */
  value: Json
  /** The format of the bytes; undefined for other text and for no body. */
  codec: Codec | undefined
  /** The bytes may be passed on with a media type without a charset. */
  portable: boolean
  /** Why the body cannot be converted to another format, as a sentence that quotes nothing of it. */
  unreadable?: string
}>

/** Of an answer without a body. */
export const NOTHING: Content = { value: null, codec: undefined, portable: true }
const NO_TEXT = `The body of the answer is ${NO_FORMAT} nor text.`
const NOT_DECODED =
  'The body of the answer cannot be read: it is not in the content coding that it declares, or in one that is not known.'

/** `documented`: the document of the endpoint. Throws Unreadable if the body is not of its declared type. */
export function readContent(answer: OutboundAnswer, settings: ParserSettings, documented?: FormatOptions): Content {
  if (answer.body.byteLength === 0) return NOTHING
  const declared = declaredType(answer)
  const charset = declared?.charset
  const codec = declared && findCodec(declared, documented)
  // Without a charset in the header, XML names its own encoding (RFC 7303 section 3.2) and all else is UTF-8.
  const portable = charset === undefined || charset === 'utf-8'
  if (codec !== undefined) return { value: codec.read(answer.body, charset, settings), codec, portable }
  const text = decodeBody(answer, declared)
  const detected = text === undefined ? undefined : detect(text)
  if (detected !== undefined) return { ...detected, portable }
  if (text === undefined || (declared !== undefined && isBinary(declared))) {
    return { value: asBase64(answer), codec: undefined, portable: false, unreadable: NO_TEXT }
  }
  return { value: text, codec: undefined, portable }
}

/**
 * The value of the body as `data` of a lookup: other text is read in the format of its type, if that names one that says little.
 * Throws as readContent does.
 */
export function readLookupData(answer: OutboundAnswer, settings: ParserSettings, documented: FormatOptions): Json {
  const { value, codec } = readContent(answer, settings, documented)
  if (codec !== undefined || typeof value !== 'string') return value
  const declared = declaredType(answer)
  const generic = declared && findAnyCodec(declared, documented)
  return generic === undefined ? value : generic.read(answer.body, declared?.charset, settings)
}

/** True if the answer declares the format, and its bytes may be passed on with the media type alone. */
export function declaresGeneric(answer: OutboundAnswer, content: Content, codec: Codec): boolean {
  if (codec.isGeneric !== true || !content.portable) return false
  const declared = declaredType(answer)
  return declared !== undefined && compileTypeCheck(codec)(declared)
}

/**
 * As readContent, but a body that is not of its declared type becomes text, or base64 if it isn't text. Only the text of a
 * refusal may still be converted: its reader may understand no other type than the output's.
 */
export function readAnyContent(
  answer: OutboundAnswer,
  settings: ParserSettings,
  isRefusal: boolean,
  documented?: FormatOptions,
): Content {
  try {
    return readContent(answer, settings, documented)
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown
    const value = asText(answer)
    const content = { value: value ?? asBase64(answer), codec: undefined, portable: false }
    if (isRefusal && value !== undefined) return content
    const why = `The body of the answer cannot be read: ${thrown.unquoted}`
    return { ...content, unreadable: answer.isCoded === true ? NOT_DECODED : why }
  }
}

/** The body as text; undefined if it is not valid in its charset. */
export const asText = (answer: OutboundAnswer): string | undefined => decodeBody(answer, declaredType(answer))

/** The body with its type and coding, as a value. */
export function asBase64({ headers, body, isCoded }: OutboundAnswer): JsonObject {
  const { 'content-type': type, 'content-encoding': coding } = headers
  return {
    contentType: typeof type === 'string' ? type : UNKNOWN_TYPE,
    ...(isCoded === true ? { contentEncoding: String(coding) } : {}),
    base64: Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('base64'),
  }
}

/** The type of a body without a Content-Type (RFC 9110 §8.3). */
export const UNKNOWN_TYPE = 'application/octet-stream'

function declaredType({ headers: { 'content-type': header } }: OutboundAnswer): MediaType | undefined {
  return typeof header === 'string' ? parseMediaType(header) : undefined
}

function decodeBody({ body }: OutboundAnswer, declared: MediaType | undefined): string | undefined {
  const charset = declared?.charset
  // First, as decodeText takes long to find the position of the first wrong byte.
  if (charset === undefined && !isUtf8(body)) return undefined
  try {
    const text = decodeText(body, charset)
    return text.includes('\0') ? undefined : text
  } catch (thrown) {
    if (thrown instanceof Unreadable) return undefined
    throw thrown
  }
}

/** Bytes. A larger outcome is left out: the answer to the sender would be as large. */
const OUTCOME_LIMIT = 262_144

/**
 * Out: the issues of an answer that is an OperationOutcome in JSON, unchanged but for their white space, without those that
 * are not valid in FHIR R4.
 */
export function readIssues(answer: OutboundAnswer): readonly JsonObject[] {
  const text = answer.body.byteLength > OUTCOME_LIMIT ? undefined : asText(answer)
  return issuesOf(text === undefined ? undefined : detect(text)?.value)
}

/** The same of an OperationOutcome as JSON; none of any other value. */
export function issuesOf(outcome: Json | undefined): readonly JsonObject[] {
  if (!isObject(outcome) || outcome.resourceType !== 'OperationOutcome' || !Array.isArray(outcome.issue)) return []
  // Typography such as a no-break space must not cost an issue.
  return outcome.issue.map((issue) => changeTexts(issue, plainSpaces)).filter(isIssue)
}

const SEVERITIES: ReadonlySet<Json | undefined> = new Set(['fatal', 'error', 'warning', 'information'])
const TYPES: ReadonlySet<Json | undefined> = new Set(ISSUE_TYPES)

type IsValid = (value: Json) => boolean

const isText: IsValid = (value) => typeof value === 'string' && /^[ \r\n\t\S]+$/.test(value)
const isWord: IsValid = (value) => typeof value === 'string' && /^\S+(?:\s\S+)*$/.test(value)
const isUri: IsValid = (value) => typeof value === 'string' && /^\S+$/.test(value)
const isFlag: IsValid = (value) => typeof value === 'boolean'
const isList =
  (isItem: IsValid): IsValid =>
  (value) =>
    Array.isArray(value) && value.every(isItem)

/** True if a value is an object whose members are known and pass. */
const isElement =
  (members: Readonly<Record<string, IsValid>>): IsValid =>
  (value) =>
    isObject(value) &&
    Object.entries(value).every(([name, member]) => Object.hasOwn(members, name) && members[name]?.(member))

/** The value of an extension can have any type of FHIR, and is not checked. */
const isExtension: IsValid = (value) =>
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
const primitives = (members: Readonly<Record<string, IsValid>>): Readonly<Record<string, IsValid>> => ({
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

/**
 * Takes the wrapper off the answer of an OpenHIM mediator, so that a lookup reads what the mediator answered.
 *
 * In: an answer. Out: status, headers and body of the answer in the wrapper, and the orchestrations beside it; the same
 * answer if it has no wrapper, or one whose parts have wrong types.
 */
export function withoutWrapper(answer: OutboundAnswer): OutboundAnswer {
  const { 'content-type': type } = answer.headers
  if (typeof type !== 'string' || answer.isCoded === true) return answer
  const wrapper = readWrapper(type, answer.body)
  if (wrapper === undefined) return answer
  const { status = answer.status, body, orchestrations } = wrapper
  const headers = Object.fromEntries(Object.entries(wrapper.headers).filter(([name]) => !isOfTransfer(name)))
  if (typeof headers['content-type'] === 'string') headers['content-type'] = inUtf8(headers['content-type'])
  const { remark, forget } = answer
  const kept = { ...(remark === undefined ? {} : { remark }), ...(forget && { forget }) }
  return { status, headers, body: Buffer.from(body), orchestrations, ...kept }
}

/** The body is a text in the wrapper, whatever length and codings the mediator's own answer had. */
const isOfTransfer = (name: string): boolean => FRAMING_HEADERS.has(name) || name === 'content-encoding'

/** The charset of the header overrides that of an XML declaration too (RFC 7303 section 3.2). */
function inUtf8(contentType: string): string {
  const media = parseMediaType(contentType)
  return media === undefined ? contentType : `${media.type}/${media.subtype}; charset=utf-8`
}
