/**
 * How much of a document is found from examples: for each document, messages at random, outputs by the document itself; from 3
 * and from 10 of these pairs a document is derived and tried on 20 further messages.
 *
 * `node bin/node.js test/system/by-example/measure.ts [parts of names] [--pairs 3] [--seed 1] [--show]`; `--show` prints the
 * documents that were derived, and their questions.
 */
import { existsSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { isObject, type Json, type JsonObject } from '../../../src/core/json.ts'
import { type Format, MEDIA_TYPES } from '../../../src/formats/codecs.ts'
import {
  compareOutputs,
  deriveByExample,
  type Example,
  isAskedAbout,
} from '../../../src/try/suggestions/by-example/by-example.ts'
import type { ByExample } from '../../../src/try/suggestions/suggest-answer.ts'
import { runPairs as run } from '../../support/run-pairs.ts'
import { DOCUMENTS, type Measurable } from './documents.ts'
import { createRandom, makeMessage, SHAPES } from './shapes.ts'

const ROOT = new URL('../../../', import.meta.url).pathname
/** Of documents. That of documents that people run is not part of the repository: REAL_DOCUMENTS names it. */
const FOLDERS = [`${ROOT}samples`, ...(process.env.REAL_DOCUMENTS ? [process.env.REAL_DOCUMENTS] : [])]

export type Measured = Readonly<{
  leaves: number
  right: number
  /** Wrong, missing or too much, without a question about it. */
  wrong: number
  /** Those of `wrong` at places of the output that no pair has. */
  unseen: number
  /** Wrong, missing or too much, where a question is. */
  asked: number
  questions: number
  /** Further questions, which only concern missing values. */
  always: number
  /** The places that were wrong, with how often and what once. */
  lines: ReadonlyMap<string, readonly [times: number, example: string]>
  found: ByExample
}>

/** Out: undefined for a document that is not on this machine. */
export async function measure(name: string, count: number, seed: number): Promise<Measured | undefined> {
  const measured = readDocument(name)
  if (measured === undefined) return undefined
  const { document: whole, shape } = measured
  const { requests, state: _state, inputValidation: _validation, answer: _answer, ...rest } = whole
  const lookups = asLookups((requests as JsonObject)?.lookup)
  const document: Record<string, Json> = {
    name,
    endpoint: { pattern: '/measured', method: 'POST' },
    ...rest,
    requests: { lookup: lookups },
  }
  // A GET has no body.
  if (shape.body !== undefined && isObject(document.endpoint))
    document.endpoint = { ...document.endpoint, method: 'POST' }
  const random = createRandom(seed)
  const pairs: Example[] = []
  for (let tries = 0; pairs.length < count + 20 && tries < 200; tries++) {
    const made = toPair(makeMessage(shape, random), document)
    const { errors, runs } = await run(document, [made.given])
    if (errors.length > 0) throw new Error(`${name}: ${JSON.stringify(errors[0])}`)
    const output = runs[0]?.output
    if (output !== undefined) pairs.push({ ...made, output: JSON.parse(JSON.stringify(output)) })
    else if (tries > 100) throw new Error(`${name}: ${JSON.stringify(runs[0]?.failure)}`)
  }
  const [given, further] = [pairs.slice(0, count), pairs.slice(count, count + 20)]
  const { inputMapping: _mapping, inputTransforms: _transforms, constants: _constants, ...base } = document
  const lookupsRead = JSON.stringify(base).includes('constants.') ? { constants: whole.constants as Json } : {}
  const found = await deriveByExample(given, { ...base, ...lookupsRead }, run)
  const { runs } = await run(
    found.endpoint,
    further.map((pair) => pair.given),
  )
  let [leaves, wrong, asked, unseen] = [0, 0, 0, 0]
  const certain = found.questions.filter(({ reason }) => reason !== 'always')
  const seen = new Set(given.flatMap(({ output }) => placesOf(output)))
  const lines = new Map<string, readonly [times: number, example: string]>()
  const note = (what: string, example: string) => {
    const [times, first] = lines.get(what) ?? [0, example]
    lines.set(what, [times + 1, first])
  }
  for (const [index, pair] of further.entries()) {
    const compared = compareOutputs(certain, pair.output, runs[index]?.output)
    leaves += compared.leaves
    asked += compared.asked
    if (runs[index]?.failure) note(JSON.stringify(runs[index]?.failure), '')
    for (const { steps, expected, actual } of compared.wrong) {
      // A question about missing values asks about nothing else.
      if ((expected === undefined || actual === undefined) && isAskedAbout(found.questions, steps)) {
        asked += 1
        continue
      }
      wrong += 1
      const isSeen = expected === undefined || seen.has(generalize(steps))
      if (!isSeen) unseen += 1
      const [one, other] = [expected, actual].map((value) => JSON.stringify(value)?.slice(0, 40))
      note(`${isSeen ? 'wrong ' : 'unseen'} ${generalize(steps)}`, `: expected ${one}, got ${other}`)
    }
  }
  const right = leaves - wrong - asked
  return {
    leaves,
    right,
    wrong,
    asked,
    unseen,
    questions: certain.length,
    always: found.questions.length - certain.length,
    lines,
    found,
  }
}

function readDocument(name: string): Measurable | undefined {
  const own = DOCUMENTS[name]
  if (own !== undefined) return own
  const shape = SHAPES[name]
  const file = FOLDERS.map((folder) => `${folder}/${name}.json`).find((path) => existsSync(path))
  if (shape === undefined || file === undefined) return undefined
  const text = readFileSync(file, 'utf8')
  // Older documents read the body of an answer without `data`.
  const ids = asLookups((JSON.parse(text) as { requests?: JsonObject }).requests?.lookup).map(({ id }) => String(id))
  const moved = ids.reduce(
    (all, id) =>
      all.replaceAll(new RegExp(`"lookupRequests\\.${id}\\.(?!data|headers|\\[)`, 'g'), `"lookupRequests.${id}.data.`),
    text,
  )
  return { document: JSON.parse(moved) as JsonObject, shape }
}

const asLookups = (lookup: Json | undefined): readonly JsonObject[] =>
  lookup === undefined ? [] : ((Array.isArray(lookup) ? lookup : [lookup]) as readonly JsonObject[])

const generalize = (steps: readonly (string | number)[]): string =>
  steps.map((step) => (typeof step === 'number' ? '[]' : `.${step}`)).join('')

/** Every place of an output, whatever the position in a list. */
function placesOf(value: Json, at = ''): readonly string[] {
  if (typeof value !== 'object' || value === null) return [at]
  const isList = Array.isArray(value)
  return [
    at,
    ...Object.entries(value).flatMap(([name, inner]) => placesOf(inner as Json, isList ? `${at}[]` : `${at}.${name}`)),
  ]
}

function toPair({ body, ...message }: JsonObject & { body?: Json }, document: JsonObject): Omit<Example, 'output'> {
  const { lookups = {}, query = {}, urlParams = {} } = message as Record<string, JsonObject>
  const format = ((document.transformation as JsonObject).input ?? 'JSON') as Format
  const canned = Object.fromEntries(
    Object.entries(lookups).map(([id, data]) => [
      id,
      Array.isArray(data) && (data as Json[]).every((one) => (one as JsonObject)?.forEachItem !== undefined)
        ? (data as JsonObject[]).map((one) => ({ status: 200, body: one.forEachItem as Json }))
        : { status: 200, body: data as Json },
    ]),
  )
  return {
    given: {
      message: {
        ...(body === undefined ? {} : { body, contentType: MEDIA_TYPES[format] }),
        query,
        urlParams: urlParams as Record<string, string>,
      },
      lookups: canned as never,
    },
  }
}

export const NAMES = [...Object.keys(SHAPES), ...Object.keys(DOCUMENTS)]
/** The answers of all, as the mean of the documents' shares. */
const SHARES = ['right', 'wrong', 'unseen', 'asked'] as const

if (process.argv[1]?.endsWith('measure.ts')) {
  const { values: options, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      pairs: { type: 'string', multiple: true, default: ['3', '10'] },
      seed: { type: 'string', multiple: true, default: ['1', '2', '3', '4', '5'] },
      show: { type: 'boolean', default: false },
    },
  })
  const sums = new Map<string, number[][]>()
  for (const name of NAMES.filter(
    (one) => positionals.length === 0 || positionals.some((part) => one.includes(part)),
  )) {
    for (const pairs of options.pairs) {
      const all: Measured[] = []
      for (const seed of options.seed) {
        const one = await measure(name, Number(pairs), Number(seed))
        if (one === undefined) continue
        all.push(one)
        for (const [what, [times, example]] of one.lines) console.log(`  ${times} x ${what}${example}  (seed ${seed})`)
        if (options.show) console.log(JSON.stringify({ ...one.found, evidence: undefined }, null, 1))
      }
      if (all.length === 0) continue
      const total = (key: 'leaves' | 'questions' | 'always' | (typeof SHARES)[number]) =>
        all.reduce((sum, one) => sum + one[key], 0)
      const row = [
        ...SHARES.map((key) => (100 * total(key)) / total('leaves')),
        total('questions') / all.length,
        total('always') / all.length,
      ]
      sums.set(pairs, [...(sums.get(pairs) ?? []), row])
      console.log(`${name.slice(-50).padEnd(50)} ${pairs.padStart(3)} pairs: ${format(row)}`)
    }
  }
  for (const [pairs, rows] of sums) {
    const mean = (rows[0] ?? []).map((_one, at) => rows.reduce((sum, row) => sum + (row[at] ?? 0), 0) / rows.length)
    console.log(`${`mean of ${rows.length} documents`.padEnd(50)} ${pairs.padStart(3)} pairs: ${format(mean)}`)
  }
}

function format(row: readonly number[]): string {
  const shares = SHARES.map((key, at) => `${key} ${(row[at] ?? 0).toFixed(2).padStart(6)} %`)
  return `${shares.join('  ')}  questions ${row
    .slice(SHARES.length)
    .map((count) => count.toFixed(1))
    .join(' + ')}`
}
