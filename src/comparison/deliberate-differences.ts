/** Tells the deliberate differences between openhim-mediator-mapping and this service from all others. */
import { type Comparison, differencesBetween } from './compare-answers.ts'
import { ACCEPTED_RULES } from './deliberate/accepted.ts'
import type { DeliberateRule } from './deliberate/deliberate-rule.ts'
import { FAILURE_RULES } from './deliberate/failures.ts'
import { REQUEST_RULES } from './deliberate/requests.ts'
import { VALUE_RULES } from './deliberate/values.ts'
import type { Difference } from './differences.ts'

/** The ids are stable, and docs/moving-over.md has a row for each. The first rule that explains a difference counts. */
export const DELIBERATE_DIFFERENCES = { ...FAILURE_RULES, ...ACCEPTED_RULES, ...REQUEST_RULES, ...VALUE_RULES }

export type DeliberateId = keyof typeof DELIBERATE_DIFFERENCES

/** `deliberate`: the id of the rule that explains the difference; undefined if none does. */
export type JudgedDifference = Difference & Readonly<{ deliberate: DeliberateId | undefined }>

const RULES = Object.entries(DELIBERATE_DIFFERENCES) as readonly (readonly [DeliberateId, DeliberateRule])[]

/** All differences of a message. `ignored`: JSON Pointers within the body; what is at or below them is not compared. */
export const judge = (comparison: Comparison, ignored: readonly string[] = []): readonly JudgedDifference[] =>
  differencesBetween(comparison)
    .filter(({ path }) => !ignored.some((pointer) => `${path}/`.startsWith(`/body${pointer}/`)))
    .map((difference) => ({
      ...difference,
      deliberate: RULES.find(([, rule]) => rule.explains(difference, comparison))?.[0],
    }))
