/**
 * Constants that a mapping copies whole and then writes into: openhim-mediator-mapping changes the constants themselves
 * there.
 */
import { isObject, type Json, type JsonObject } from '../../src/core/json.ts'
import { collectInto } from '../../src/core/lint.ts'
import { readTargets } from '../../src/language/mapping/mapping-targets.ts'
import type { MappingTarget, TargetStep } from '../../src/language/mapping/target.ts'
import { parseSteps } from '../../src/language/paths/path-steps.ts'

/** `names`: of the place in the output, without its elements. */
export type SharedConstant = Readonly<{ source: string; names: readonly string[] }>

/** In: an endpoint document; faulty entries are passed over. Out: each place of such a constant, in the order of the mapping. */
export function sharedConstants({ inputMapping, constants }: JsonObject): readonly SharedConstant[] {
  if (!isObject(inputMapping) || !isObject(constants)) return []
  const entries = Object.entries(inputMapping).map(([source, target]) => ({ source, targets: parseTargets(target) }))
  return entries.flatMap(({ source, targets }, index) => {
    if (!isStructure(constantAt(source, constants))) return []
    const later = entries.slice(index + 1).flatMap((entry) => entry.targets)
    return targets
      .filter((target) => later.some((other) => isWithin(other.steps, target.steps)))
      .map(({ steps }) => ({ source, names: steps.flatMap((step) => (step.kind === 'name' ? [step.name] : [])) }))
  })
}

const parseTargets = (target: Json): readonly MappingTarget[] =>
  (readTargets(target, collectInto([])) ?? []).map((plan) => plan.target)

const isStructure = (value: Json | undefined): boolean => typeof value === 'object' && value !== null

function constantAt(source: string, constants: JsonObject): Json | undefined {
  const parsed = parseSteps(source, 'path')
  if (!parsed.ok) return undefined
  return parsed.value.reduce<Json | undefined>(
    (value, step) => {
      if (step.kind === 'name' && isObject(value) && Object.hasOwn(value, step.name)) return value[step.name]
      return step.kind === 'index' && Array.isArray(value) ? value[step.index] : undefined
    },
    { constants },
  )
}

/** True if a place is below another one. All elements count as the same. */
const isWithin = (inner: readonly TargetStep[], outer: readonly TargetStep[]): boolean =>
  inner.length > outer.length && outer.every((step, index) => stepKey(step) === stepKey(inner[index]))

const stepKey = (step: TargetStep | undefined): string => (step?.kind === 'name' ? `.${step.name}` : '[]')
