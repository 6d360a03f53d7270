/** Reads the limits of one run of a plan. */
import { Failure } from '../../../core/failure.ts'
import { isObject, type Json } from '../../../core/json.ts'
import { didYouMean } from '../../../core/nearest.ts'
import type { RunLimits } from '../../../core/replays/replay-plan.ts'
import { LARGEST_PLAN } from './plan-messages.ts'

const DEFAULTS: RunLimits = { max: LARGEST_PLAN, concurrency: 1 }

type LimitSchema = Readonly<{
  type: 'integer' | 'number'
  minimum: number
  maximum: number
  default?: number
  description: string
}>

/** As JSON Schema, of which OpenAPI is made too. */
export const LIMITS: Readonly<Record<keyof RunLimits, LimitSchema>> = {
  max: { type: 'integer', minimum: 1, maximum: LARGEST_PLAN, description: 'Messages of this run.' },
  concurrency: {
    type: 'integer',
    minimum: 1,
    maximum: 100,
    default: DEFAULTS.concurrency,
    description: 'Messages at once. 1 keeps their order.',
  },
  perSecond: { type: 'number', minimum: 0.01, maximum: 10_000, description: 'Messages started in a second.' },
  canary: {
    type: 'integer',
    minimum: 1,
    maximum: 10,
    description: 'Messages that are replayed first, one by one; the plan then waits to be continued.',
  },
}

/** Fails with REPLAY_OPTION_INVALID. */
export function readRunLimits(raw: Json): RunLimits {
  if (!isObject(raw))
    throw invalid('The limits of a run must be an object such as { "concurrency": 4, "perSecond": 20 }.')
  const known = Object.keys(LIMITS)
  for (const name of Object.keys(raw)) {
    if (known.includes(name)) continue
    throw invalid(`There is no limit "${name}"${didYouMean(name, known)} There are: ${known.join(', ')}.`)
  }
  for (const [name, { type, minimum, maximum }] of Object.entries(LIMITS)) {
    const value = raw[name]
    if (value === undefined) continue
    const fits = typeof value === 'number' && value >= minimum && value <= maximum
    if (fits && (type === 'number' || Number.isInteger(value))) continue
    const accepts = `a ${type === 'integer' ? 'whole number' : 'number'} from ${minimum} to ${maximum}`
    throw invalid(`${name} cannot be ${JSON.stringify(value)}; it is ${accepts}.`)
  }
  return { ...DEFAULTS, ...raw }
}

const invalid = (sentence: string): Failure => new Failure('REPLAY_OPTION_INVALID', sentence)
