/** Checks the query and the body of a call by the schemas of its route, and writes the sentences about their faults. */
import type { FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import { Failure } from '../core/failure.ts'
import type { FailureCode } from '../core/failure-table.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { collectInto, type Lint, type LintSink, toFaults } from '../core/lint.ts'
import { didYouMean } from '../core/nearest.ts'
import type { Notes, QueryOf } from '../core/schema.ts'
import { checkSchema } from '../document/checks/check-field.ts'
import { type ParsedDocument, parseLongDocument } from '../endpoints/parse-document.ts'
import { hasBody } from '../inbound/http/replies.ts'
import { readDocument } from './read-document.ts'

export type QuerySchemas = Readonly<Record<string, TSchema>>

/** Each parameter with its values. */
export type QueryTexts = ReadonlyMap<string, readonly string[]>

export type BodyCheck = Readonly<{
  /** The code of a body with faults. */
  code: FailureCode
  /** The sentence of the failure, whose details are the faults; without it, the sentence is that of the first fault. */
  sentence?: string
  /** A call without a body has an empty object. */
  mayBeEmpty?: true
  /** Lints what a schema cannot say. */
  also?: (body: JsonObject, lint: LintSink) => void
  /** The name of the document in the body: what is twice in it is reported with its other faults, not here. */
  document?: string
}>

export type CheckedBody = Readonly<{ body: Json; repeated: readonly Lint[] }>

/** The keywords that the schemas of queries and of fields use. */
type Schema = Notes &
  Readonly<{
    type?: string
    enum?: readonly string[]
    const?: Json
    pattern?: string
    minimum?: number
    maximum?: number
    minLength?: number
    maxLength?: number
    maxItems?: number
    items?: Schema
    properties?: Readonly<Record<string, Schema>>
    required?: readonly string[]
  }>

type Fault = Readonly<{ path: string; message: string }>

/** A fault takes a search for the name that was meant, and a call may have thousands of names and values. */
const MAX_FAULTS = 20

/** `others`: parameters without a schema. Fails with FILTER_INVALID. */
export function checkQuery<Q extends QuerySchemas>(
  schemas: Q,
  texts: QueryTexts,
  others: 'refused' | 'ignored' = 'refused',
): QueryOf<Q> {
  const faults: Fault[] = []
  const query: Record<string, Json> = {}
  for (const [name, schema] of Object.entries(schemas as Readonly<Record<string, Schema>>)) {
    const given = texts.get(name)
    if (given === undefined) continue
    const read = readParameter(name, schema, given)
    if ('value' in read) query[name] = read.value
    else faults.push(...read.faults.map((message) => ({ path: name, message })))
  }
  const known = Object.keys(schemas)
  const unknown = others === 'ignored' ? [] : [...texts.keys()].filter((name) => !Object.hasOwn(schemas, name))
  faults.push(...unknown.slice(0, MAX_FAULTS).map((name) => unknownName(name, 'filter ', known)))
  refuse('FILTER_INVALID', faults)
  return query as QueryOf<Q>
}

/**
 * Out: the body, and what is twice in its document. Fails with BODY_UNREADABLE, BODY_TOO_DEEP, MEDIA_TYPE_WRONG, and with the
 * code of the check.
 */
export async function checkBody(request: FastifyRequest, schema: TSchema, check: BodyCheck): Promise<CheckedBody> {
  const isEmpty = check.mayBeEmpty && !hasBody(request)
  return checkParsed(isEmpty ? { raw: {}, faults: [] } : await parseLongDocument(readDocument(request)), schema, check)
}

/** In: the body, and what is twice in it. Fails with the code of the check. */
export function checkParsed({ raw, faults }: ParsedDocument, schema: TSchema, check: BodyCheck): CheckedBody {
  const { code, sentence, also, document } = check
  const inside = `${document}.`
  const repeated = document === undefined ? [] : faults.filter(({ path }) => path.startsWith(inside))
  const lints = faults.filter((fault) => !repeated.includes(fault))
  const lint = collectInto(lints)
  const { fault } = schema as Schema
  if (!isObject(raw) && fault !== undefined) lint.error(String(fault))
  else if (sentence === undefined) lints.push(...fieldFaults(schema as Schema, isObject(raw) ? raw : {}).map(asLint))
  else checkSchema(schema, raw, lint)
  if (isObject(raw)) also?.(raw, lint)
  if (sentence === undefined) refuse(code, lints)
  else if (lints.length > 0) {
    throw new Failure(code, sentence, { details: toFaults(lints) })
  }
  return { body: raw, repeated: repeated.map((one) => ({ ...one, path: one.path.slice(inside.length) })) }
}

const asLint = (fault: Fault): Lint => ({ ...fault, severity: 'error' })

/** The sentence is that of the first fault; if there are others, the details have all of them. */
function refuse(code: FailureCode, faults: readonly Fault[]): void {
  const byMessage = new Map(faults.map(({ path, message }) => [message, { path, message }]))
  const [first, ...others] = byMessage.values()
  if (first === undefined) return
  throw new Failure(code, first.message, others.length === 0 ? {} : { details: [first, ...others] })
}

/** The faults of an object whose fields have no further fields. */
function fieldFaults({ properties = {}, required = [], noun, fault }: Schema, raw: JsonObject): readonly Fault[] {
  const known = Object.keys(properties)
  const unknown = Object.keys(raw)
    .filter((name) => !Object.hasOwn(properties, name))
    .slice(0, MAX_FAULTS)
    .map((name) => (noun === undefined ? { path: name, message: String(fault) } : unknownName(name, noun, known)))
  const wrong = Object.entries(properties).flatMap(([name, schema]) => {
    const value = raw[name]
    if (value === undefined ? !required.includes(name) : isRight(schema, value)) return []
    return [{ path: name, message: formatSentence(name, schema, value, JSON.stringify(value)) }]
  })
  return [...unknown, ...wrong]
}

const unknownName = (name: string, noun: string, known: readonly string[]): Fault => ({
  path: name,
  message: `There is no ${noun}"${name}"${didYouMean(name, known)} There are: ${known.join(', ')}.`,
})

type Read = Readonly<{ value: Json }> | Readonly<{ faults: readonly string[] }>

function readParameter(name: string, schema: Schema, texts: readonly string[]): Read {
  const { items, maxItems = Number.POSITIVE_INFINITY } = schema
  if (items !== undefined) {
    if (texts.length > maxItems) {
      return { faults: [`${name} takes ${maxItems} values at most, and has ${texts.length}.`] }
    }
    const values: Json[] = []
    const faults: string[] = []
    for (const text of texts) {
      const one = readText(name, items, text)
      if ('value' in one) values.push(one.value)
      else if (faults.push(...one.faults) >= MAX_FAULTS) break
    }
    return faults.length > 0 ? { faults } : { value: values }
  }
  if (texts.length > 1 && !schema.joined) {
    return { faults: [typeof schema.fault === 'string' ? schema.fault : `${name} can be given once only.`] }
  }
  return readText(name, schema, texts.join(','))
}

function readText(name: string, schema: Schema, text: string): Read {
  const value = parsed(schema, text)
  return isRight(schema, value) ? { value } : { faults: [formatSentence(name, schema, text, `"${text}"`)] }
}

function parsed({ type }: Schema, text: string): Json {
  if (type === 'integer' && /^(?:0|[1-9]\d{0,8})$/.test(text)) return Number(text)
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

function isRight(schema: Schema, value: Json): boolean {
  const { type, is, items = {}, minimum = -Infinity, maximum = Infinity, minLength = 0, maxLength = Infinity } = schema
  if (schema.const !== undefined) return value === schema.const
  if (schema.enum !== undefined) return schema.enum.some((one) => one === value)
  if (type === 'boolean') return typeof value === 'boolean'
  if (type === 'array') {
    return Array.isArray(value) && (schema.areItems?.(value) ?? value.every((item) => isRight(items, item)))
  }
  if (type === 'integer' || type === 'number') {
    const isInside = typeof value === 'number' && value >= minimum && value <= maximum
    return isInside && (type === 'number' || Number.isInteger(value))
  }
  if (typeof value !== 'string' || value.length < minLength || value.length > maxLength) return false
  return (schema.pattern === undefined || new RegExp(schema.pattern).test(value)) && (is === undefined || is(value))
}

/** `shown`: the value as the sentence has it. */
function formatSentence(name: string, schema: Schema, value: Json | undefined, shown: string): string {
  const { fault, expects, minLength, maxLength } = schema
  if (fault !== undefined) return typeof fault === 'string' ? fault : fault(String(value))
  if (schema.enum !== undefined) {
    return `There is no ${name} ${shown}${didYouMean(String(value), schema.enum)} There are: ${schema.enum.join(', ')}.`
  }
  if (typeof value === 'string' && expects === undefined && maxLength !== undefined) {
    if (minLength === undefined) return `${name} can have at most ${maxLength} characters.`
    return `${name} must have from ${minLength} to ${maxLength} characters, and has ${value.length}.`
  }
  return `${name} cannot be ${shown}; it is ${expectation(schema)}.`
}

function expectation({ expects, type, minimum, maximum, items }: Schema): string {
  if (expects !== undefined) return expects
  if (type === 'boolean') return 'true or false'
  if (type === 'array') return items?.type === 'string' ? 'a list of texts' : 'a list'
  if (type !== 'integer' && type !== 'number') return 'a text'
  const number = type === 'integer' ? 'a whole number' : 'a number'
  if (minimum === undefined) return maximum === undefined ? number : `${number} of at most ${maximum}`
  return maximum === undefined ? `${number} of at least ${minimum}` : `${number} from ${minimum} to ${maximum}`
}
