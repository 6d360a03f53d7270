/**
 * How much of a document is found from examples: for each document, messages at random, outputs by the document itself; from 3
 * and from 10 of these pairs a document is derived and tried on 20 further messages.
 *
 * `node bin/node.js test/system/by-example/measure.ts [part of a name]`: with a part of a name, also what was wrong.
 */
import { existsSync, readFileSync } from 'node:fs'
import { createOfflineServices } from '../../../src/app/offline.ts'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { type Format, MEDIA_TYPES } from '../../../src/formats/codecs.ts'
import { createLogger } from '../../../src/observe/log/logger.ts'
import { readSettings } from '../../../src/settings/settings.ts'
import { compareOutputs, deriveByExample, type Example } from '../../../src/try/suggestions/by-example/by-example.ts'
import { createRunPairs } from '../../../src/try/suggestions/by-example/run-pairs.ts'
import { createRandom, makeMessage, SHAPES } from './shapes.ts'

const reading = readSettings({})
if (!reading.ok) throw new Error('The default settings are refused.')
const settings = reading.settings
const logger = createLogger({ ...settings, logLevel: 'error' })
const run = createRunPairs({ services: createOfflineServices(settings), settings, logger })

const ROOT = new URL('../../../', import.meta.url).pathname
/** Documents that people run; they are not part of the repository. */
const REAL = process.env.REAL_DOCUMENTS ?? '/work/shared/real-documents/as-written'

export type Measured = Readonly<{
  name: string
  pairs: number
  leaves: number
  right: number
  wrong: number
  asked: number
  unseen: number
}>

export async function measure(name: string, count: number, seed: number, show = false): Promise<Measured | undefined> {
  const shape = SHAPES[name]
  const file = [`${ROOT}samples/${name}.json`, `${REAL}/${name}.json`].find((path) => existsSync(path))
  if (shape === undefined || file === undefined) return undefined
  const whole = JSON.parse(readFileSync(file, 'utf8')) as JsonObject
  const { requests, state: _state, inputValidation: _validation, answer: _answer, ...rest } = whole
  const lookups = ((requests as JsonObject)?.lookup ?? []) as Json
  const document = { ...rest, requests: { lookup: lookups } } as JsonObject
  const random = createRandom(seed)
  const pairs: Example[] = []
  for (let tries = 0; pairs.length < count + 20 && tries < 200; tries++) {
    const made = toPair(makeMessage(shape, random), document)
    const { errors, runs } = await run(document, [made.given])
    if (errors.length > 0) throw new Error(`${name}: ${JSON.stringify(errors[0])}`)
    const output = runs[0]?.output
    if (output !== undefined) pairs.push({ ...made, output: JSON.parse(JSON.stringify(output)) })
    else if (show && tries > 100) console.log(runs[0]?.failure)
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
  const seen = new Set(given.flatMap(({ output }) => placesOf(output)))
  const lines = new Map<string, number>()
  for (const [index, pair] of further.entries()) {
    const compared = compareOutputs(found.questions, pair.output, runs[index]?.output)
    leaves += compared.leaves
    const known = compared.wrong.filter(({ steps, expected }) => expected === undefined || seen.has(generalize(steps)))
    wrong += known.length
    unseen += compared.wrong.length - known.length
    asked += compared.asked
    if (runs[index]?.failure) lines.set(JSON.stringify(runs[index]?.failure), 1)
    for (const { steps, expected, actual } of known) {
      const line = `${steps.join('.')}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`
      lines.set(line.slice(0, 200), (lines.get(line.slice(0, 200)) ?? 0) + 1)
    }
  }
  if (show) {
    console.log(JSON.stringify(found.endpoint, null, 1))
    console.log(
      found.questions
        .map(
          (one) =>
            `? ${one.target} ${one.reason} ${one.source ?? ''} ${JSON.stringify(one.examples)} ${one.candidates.length}`,
        )
        .join('\n'),
    )
    console.log([...lines.keys()].slice(0, 30).join('\n'))
    console.log('held back', JSON.stringify(found.heldBack).slice(0, 500), 'cut', found.cut)
  }
  return { name, pairs: count, leaves, right: leaves - wrong - asked - unseen, wrong, asked, unseen }
}

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
  const isText = typeof body === 'string' && format !== 'JSON'
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
        ...(body === undefined ? {} : { body, contentType: isText ? MEDIA_TYPES[format] : 'application/json' }),
        query,
        urlParams: urlParams as Record<string, string>,
      },
      lookups: canned as never,
    },
  }
}

export const NAMES = Object.keys(SHAPES)

if (process.argv[1]?.endsWith('measure.ts')) {
  const part = process.argv[2]
  const seeds = process.argv[3] === undefined ? [1, 2, 3, 4, 5] : [Number(process.argv[3])]
  const totals = new Map<number, Measured>()
  for (const name of NAMES.filter((one) => part === undefined || one.includes(part))) {
    const shown: string[] = []
    for (const pairs of [3, 10]) {
      const all: Measured[] = []
      for (const seed of seeds) {
        const one = await measure(name, pairs, seed, process.argv[4] === String(pairs))
        if (one !== undefined) all.push(one)
      }
      if (all.length === 0) continue
      const total = (key: 'leaves' | 'right' | 'wrong' | 'asked' | 'unseen') =>
        all.reduce((sum, one) => sum + one[key], 0)
      const sum = {
        leaves: total('leaves'),
        right: total('right'),
        wrong: total('wrong'),
        asked: total('asked'),
        unseen: total('unseen'),
      }
      const before = totals.get(pairs) ?? { name: 'all', pairs, leaves: 0, right: 0, wrong: 0, asked: 0, unseen: 0 }
      const share = (value: number) => `${((value / sum.leaves) * 100).toFixed(1).padStart(5)} %`
      totals.set(pairs, {
        ...before,
        leaves: before.leaves + 1,
        right: before.right + sum.right / sum.leaves,
        wrong: before.wrong + sum.wrong / sum.leaves,
        asked: before.asked + sum.asked / sum.leaves,
        unseen: before.unseen + sum.unseen / sum.leaves,
      })
      shown.push(
        `${String(pairs).padStart(2)} pairs: right ${share(sum.right)}  wrong ${share(sum.wrong)}  asked ${share(sum.asked)} unseen ${share(sum.unseen)}`,
      )
    }
    console.log(`${name.slice(-60).padEnd(60)} ${shown.join('  |  ')}`)
  }
  for (const { pairs, leaves, right, wrong, asked, unseen } of totals.values()) {
    const share = (value: number) => `${((value / leaves) * 100).toFixed(1)} %`
    console.log(
      `mean of ${leaves} documents from ${pairs} pairs: right ${share(right)}, wrong ${share(wrong)}, asked ${share(asked)}, in no pair ${share(unseen)}`,
    )
  }
}
