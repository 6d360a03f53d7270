/** A plan as a file: for people to review and for a later run to make, and only that plan. It holds no document. */
import { describeChange } from '../document-diff/document-diff.ts'
import { isObject, type Json, type JsonObject } from '../domain/json.ts'
import { etagOf } from '../endpoints/precondition.ts'
import { hideCredentials } from './credentials.ts'
import type { DeploymentPlan, PlannedOperation } from './deployment-plan.ts'

const FORMAT = 1

/** The plan as JSON, without credentials. `digest` is of the document that is sent. */
export function describePlan(plan: DeploymentPlan): JsonObject {
  return { operations: plan.operations.map(describeOperation), unchanged: plan.unchanged, notInFiles: plan.leftOver }
}

const describeOperation = ({ document, changes, takesOver, ...operation }: PlannedOperation): JsonObject =>
  ({
    ...operation,
    ...(takesOver === undefined ? {} : { takesOver }),
    ...(document === undefined ? {} : { digest: etagOf(document).slice(1, -1) }),
    ...(operation.op === 'replace' ? { changes: changes.map(hideCredentials).map(describeChange) } : {}),
  }) as unknown as JsonObject

/** The text of a plan file. `target`: the URL of the service. */
export const planText = (plan: DeploymentPlan, target: string): string =>
  `${JSON.stringify({ format: FORMAT, target, ...describePlan(plan) }, null, 2)}\n`

/**
 * In: the text of a plan file, and what would be planned now. Out: the sentence why the file cannot be made; undefined if what
 * it says is exactly what would be planned now.
 */
export function staleness(text: string, plan: DeploymentPlan, target: string): string | undefined {
  const saved = parsed(text)
  if (!isObject(saved) || saved.format !== FORMAT || !Array.isArray(saved.operations)) {
    return 'The file is no plan of this version of crosswalk; make a new one.'
  }
  if (saved.target !== target) return `The plan is for ${String(saved.target)}, not for ${target}.`
  const before = new Map(saved.operations.filter(isObject).map((one) => [identityOf(one), one]))
  const now = new Map(plan.operations.map(describeOperation).map((one) => [identityOf(one), one]))
  const names = [...before, ...now].flatMap(([identity, { name }]) =>
    before.has(identity) && now.has(identity) ? [] : [String(name)],
  )
  if (names.length === 0) return undefined
  const shown = [...new Set(names)].map((name) => JSON.stringify(name))
  const more = shown.length > MOST_NAMES ? ` and ${shown.length - MOST_NAMES} more` : ''
  return `Since the plan was made, the service or the files changed: ${shown.slice(0, MOST_NAMES).join(', ')}${more}. Nothing was applied; make a new plan.`
}

const MOST_NAMES = 10

/** The ETag stands for the document of the service, the digest for that of the file. */
const identityOf = ({ op, id, ifMatch, name, digest }: JsonObject): string =>
  JSON.stringify([op, id ?? null, ifMatch ?? null, name ?? null, digest ?? null])

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
