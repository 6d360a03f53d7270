/** Reads the limits of one run of a plan. */
import { Failure } from '../../domain/failure.ts'
import { isObject, type Json } from '../../domain/json.ts'
import { didYouMean } from '../../domain/nearest.ts'
import type { RunLimits } from '../../domain/replays/replay-plan.ts'
import { LARGEST_PLAN } from './plan-messages.ts'

const DEFAULTS: RunLimits = { max: LARGEST_PLAN, concurrency: 1 }

const LIMITS: Readonly<Record<keyof RunLimits, Readonly<{ most: number; whole: boolean }>>> = {
  max: { most: LARGEST_PLAN, whole: true },
  concurrency: { most: 100, whole: true },
  perSecond: { most: 10_000, whole: false },
  canary: { most: 10, whole: true },
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
  for (const [name, { most, whole }] of Object.entries(LIMITS)) {
    const value = raw[name]
    if (value === undefined) continue
    const fits = typeof value === 'number' && value >= (whole ? 1 : 0.01) && value <= most
    if (fits && (!whole || Number.isInteger(value))) continue
    const accepts = whole ? `a whole number from 1 to ${most}` : `a number from 0.01 to ${most}`
    throw invalid(`${name} cannot be ${JSON.stringify(value)}; it is ${accepts}.`)
  }
  return { ...DEFAULTS, ...raw }
}

const invalid = (sentence: string): Failure => new Failure('REPLAY_OPTION_INVALID', sentence)
