/** The limits of one run of a plan. */
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

export const withDefaults = (limits: Partial<RunLimits>): RunLimits => ({ ...DEFAULTS, ...limits })
