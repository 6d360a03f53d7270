/** The message and the canned answers of `crosswalk run`, from its arguments and files. */
import { readFileSync, statSync } from 'node:fs'
import { extname } from 'node:path'
import { CANNED_FAULTS } from '../../config/checks/dry-run-request.ts'
import { readFault } from '../../domain/files/files.ts'
import type { JsonObject } from '../../domain/json.ts'
import { isObject, type Json } from '../../domain/json.ts'
import { didYouMean } from '../../domain/nearest.ts'
import { Unreadable } from '../../formats/body-faults.ts'
import { MEDIA_TYPES } from '../../formats/codecs.ts'
import { decodeText } from '../../formats/text.ts'
import { parseRoutePattern } from '../../language/route-pattern.ts'
import { CommandImpossible, type ProjectArguments } from '../command-process.ts'

export type RunArguments = ProjectArguments &
  Readonly<{
    input?: string
    header: readonly string[]
    query: readonly string[]
    param: readonly string[]
    state?: string
    lookup: readonly string[]
    response: readonly string[]
    live?: true
    stage?: string
    target?: string
    json?: true
    watch?: true
  }>

const STANDARD_INPUT = 0

/** Out: the request of a dry run, without its document. Throws CommandImpossible with the argument that is wrong. */
export function readRunOptions(options: RunArguments): JsonObject {
  const { input, header, query, state, lookup, response, live } = options
  return {
    message: {
      ...(input === undefined ? {} : { body: textOf(input) }),
      headers: joinedHeaders(header.map((text) => divided('--header', text, ':', 'name:value'))),
      query: repeated(query.map((text) => divided('--query', text, '=', 'name=value'))),
      urlParams: once('--param', paramsOf(options)),
      ...(state === undefined ? {} : { state: stateOf(state) }),
    },
    lookups: repeated(lookup.map((text) => answerOf('--lookup', text))),
    responses: repeated(response.map((text) => answerOf('--response', text))),
    live: live === true,
  }
}

/** Throws CommandImpossible if the path of the document has no such parameter: what nothing reads is a slip. */
export function refuseUnknownParams(options: RunArguments, document: JsonObject): void {
  const { pattern } = isObject(document.endpoint) ? document.endpoint : {}
  const reading = typeof pattern === 'string' ? parseRoutePattern(pattern) : undefined
  // The document has the fault, which the run reports.
  if (reading?.ok === false) return
  const path = reading?.value.pattern
  const parameters = reading?.value.parameters ?? []
  const unknown = paramsOf(options).find(([name]) => !parameters.includes(name))
  if (unknown === undefined) return
  const [name] = unknown
  throw new CommandImpossible(
    path === undefined
      ? `--param ${name}: The document has no path.`
      : `--param ${name}: The path ${path} has no such parameter${didYouMean(name, parameters)}`,
  )
}

const paramsOf = ({ param }: RunArguments) => param.map((text) => divided('--param', text, '=', 'name=value'))

function once(option: string, entries: readonly (readonly [string, string])[]): JsonObject {
  const twice = entries.find(([name], at) => entries.findIndex(([other]) => other === name) < at)
  if (twice !== undefined) throw new CommandImpossible(`${option} ${twice[0]} stands twice.`)
  return Object.fromEntries(entries)
}

/** The values of a repeated header are joined (RFC 9110 section 5.3). */
function joinedHeaders(entries: readonly (readonly [string, string])[]): JsonObject {
  const groups = Map.groupBy(entries, ([name]) => name.toLowerCase())
  return Object.fromEntries([...groups].map(([name, group]) => [name, group.map(([, value]) => value).join(', ')]))
}

function divided(option: string, text: string, by: string, form: string): readonly [string, string] {
  const at = text.indexOf(by)
  const name = text.slice(0, at).trim()
  if (at === -1 || name === '') throw new CommandImpossible(`${option} must be written as ${form}.`)
  const value = text.slice(at + 1)
  return [name, by === ':' ? value.trim() : value]
}

/** A name that occurs once has its value, one that occurs several times an array. */
function repeated<T extends Json>(entries: readonly (readonly [string, T])[]): JsonObject {
  const groups = Map.groupBy(entries, ([name]) => name)
  return Object.fromEntries(
    [...groups].map(([name, group]): [string, Json] => {
      const values = group.map(([, value]) => value)
      return [name, values.length === 1 ? (values[0] as T) : values]
    }),
  )
}

/** `id=file`, `id=404:file`, `id=404`, or `id=timeout` and the other faults of a dry run. */
function answerOf(option: string, text: string): readonly [string, JsonObject] {
  const [id, given] = divided(option, text, '=', 'id=file')
  const [, status, rest = given] = /^(\d{3})(?::(.*))?$/s.exec(given) ?? []
  const code = status === undefined ? {} : { status: Number(status) }
  if (status !== undefined && given === status) return [id, code]
  if (/^[a-z-]+$/.test(rest) && statSync(rest, { throwIfNoEntry: false }) === undefined) {
    if (CANNED_FAULTS.some((fault) => fault === rest)) return [id, { ...code, fault: rest }]
    throw new CommandImpossible(
      `${option} ${id}: There is no file ${rest}, and no such fault; the faults are ${CANNED_FAULTS.join(', ')}.`,
    )
  }
  const type = { '.json': MEDIA_TYPES.JSON, '.xml': MEDIA_TYPES.XML }[extname(rest).toLowerCase()]
  const headers = type === undefined ? {} : { headers: { 'content-type': type } }
  return [id, { ...code, ...headers, body: textOf(rest) }]
}

function stateOf(file: string): JsonObject {
  let state: unknown
  try {
    state = JSON.parse(textOf(file))
  } catch (thrown) {
    if (thrown instanceof CommandImpossible) throw thrown
  }
  if (!isObject(state)) throw new CommandImpossible(`${file} is no JSON object, which a state is.`)
  return state
}

function textOf(file: string): string {
  try {
    return decodeText(readFileSync(file === '-' ? STANDARD_INPUT : file), undefined)
  } catch (thrown) {
    if (thrown instanceof Unreadable)
      throw new CommandImpossible(`${shownFile(file)} is no text in UTF-8, and only that can be run.`)
    throw new CommandImpossible(readFault(shownFile(file), thrown))
  }
}

/** The name of a file in sentences and lines. */
export const shownFile = (file: string): string => (file === '-' ? 'standard input' : file)
