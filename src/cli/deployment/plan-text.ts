/**
 * A plan as lines for people, and as a file: for people to review and for a later run to make, and only that plan. Neither has a
 * document or a credential.
 */

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { describeChange, type LocatedChange } from '../../document/diff/document-diff.ts'
import { computeEtag } from '../../endpoints/precondition.ts'
import { jsonText } from '../command.ts'
import { hideCredentials } from './credentials.ts'
import type { DeploymentPlan, PlannedOperation, PlannedTable } from './plan.ts'

const MARKS = { create: '+', replace: '~', delete: '-' } as const
const CHANGE_MARKS = { added: '+', removed: '-', changed: '~', moved: '>' } as const

/** Of an operation; a first import of a large document has more. */
const MAX_CHANGES = 50
const MAX_CHARACTERS = 200

/** The lines without their ends. Control characters of documents are escaped. */
export function reportPlan({ operations, unchanged, leftOver, leftOverTables }: DeploymentPlan): readonly string[] {
  const count = (wanted: PlannedOperation['op']) => operations.filter(({ op }) => op === wanted).length
  const totals = `${count('create')} to create, ${count('replace')} to replace, ${count('delete')} to delete, ${unchanged} unchanged.`
  const left = leftOver.map(
    (name) => `? ${JSON.stringify(name)}: has the labels of the project and no file; --prune deletes it`,
  )
  const leftTables = leftOverTables.map(
    (name) => `? table ${JSON.stringify(name)}: nothing reads it any more, and it has no file; --prune deletes it`,
  )
  return [...operations.flatMap(reportOperation), ...left, ...leftTables, totals]
}

function reportOperation(operation: PlannedOperation): readonly string[] {
  const { op, name, file, renamedFrom, takesOver, changes, table } = operation
  const notes = [
    ...(file === undefined ? [] : [file]),
    ...(renamedFrom === undefined ? [] : [`was ${JSON.stringify(renamedFrom)}`]),
    ...(takesOver === undefined ? [] : ['not of this project yet']),
  ]
  const rest = changes.length - MAX_CHANGES
  return [
    `${MARKS[op]} ${table === undefined ? '' : 'table '}${JSON.stringify(name)}${notes.length === 0 ? '' : ` (${notes.join('; ')})`}`,
    ...(table === undefined || op === 'delete' ? [] : reportRows(table)),
    ...changes.slice(0, MAX_CHANGES).map((change) => `    ${reportChange(hideCredentials(change))}`),
    ...(rest > 0 ? [`    and ${rest} more`] : []),
  ]
}

const MAX_ROWS = 5

function reportRows({ added, changed, removed, rows, columns }: PlannedTable): readonly string[] {
  const names = (verb: 'added' | 'removed') =>
    (columns?.[verb] ?? []).map((name) => `    ${CHANGE_MARKS[verb]} column ${JSON.stringify(name)}`)
  return [
    ...names('removed'),
    ...names('added'),
    `    rows: ${added} added, ${changed} changed, ${removed} removed`,
    ...rows.slice(0, MAX_ROWS).map(({ kind, from, to }) => {
      const values = [from, to].flatMap((row) => (row === undefined ? [] : shown(Object.values(row)))).join(' -> ')
      return `    ${CHANGE_MARKS[kind]} ${values}`
    }),
    ...(rows.length > MAX_ROWS ? [`    and ${added + changed + removed - MAX_ROWS} more`] : []),
  ]
}

function reportChange(change: LocatedChange): string {
  const { kind, from, to, after } = change
  const { path } = describeChange(change)
  const order = after === undefined ? '' : after === null ? ' (first)' : ` (after ${JSON.stringify(after)})`
  const values = {
    added: () => `: ${shown(to)}${order}`,
    removed: () => `: ${shown(from)}`,
    changed: () => `: ${shown(from)} -> ${shown(to)}`,
    moved: () => order,
  }
  return `${CHANGE_MARKS[kind]} ${path}${values[kind]()}`
}

function shown(value: Json | undefined): string {
  const text = JSON.stringify(value) ?? ''
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text
}

const FORMAT = 1

/** The plan as JSON, without credentials. `digest` is of the document that is sent. */
export function describePlan(plan: DeploymentPlan): JsonObject {
  const { operations, unchanged, leftOver: notInFiles, leftOverTables: tables } = plan
  const described = { operations: operations.map(describeOperation), unchanged, notInFiles }
  return tables.length === 0 ? described : { ...described, tablesNotInFiles: tables }
}

const describeOperation = ({ document, changes, takesOver, table, ...operation }: PlannedOperation): JsonObject =>
  ({
    ...operation,
    ...(table === undefined ? {} : describeTable(table)),
    ...(takesOver === undefined ? {} : { takesOver }),
    ...(document === undefined ? {} : { digest: computeEtag(document).slice(1, -1) }),
    ...(operation.op === 'replace' && table === undefined
      ? { changes: changes.map(hideCredentials).map(describeChange) }
      : {}),
  }) as unknown as JsonObject

const describeTable = ({ digest, added, changed, removed }: PlannedTable) => ({
  kind: 'table',
  ...(digest === undefined ? {} : { digest }),
  rows: { added, changed, removed },
})

/** The text of a plan file. `target`: the URL of the service. */
export const planText = (plan: DeploymentPlan, target: string): string =>
  jsonText({ format: FORMAT, target, ...describePlan(plan) })

/**
 * In: the text of a plan file, and what would be planned now. Out: the sentence why the file cannot be made; undefined if what
 * it says is exactly what would be planned now.
 */
export function staleness(text: string, plan: DeploymentPlan, target: string): string | undefined {
  const saved = parsed(text)
  if (!isObject(saved) || saved.format !== FORMAT || !Array.isArray(saved.operations)) {
    return 'The file does not have a plan of this version of crosswalk; make a new one.'
  }
  if (saved.target !== target) return `The plan is for ${String(saved.target)}, not for ${target}.`
  const before = new Map(saved.operations.filter(isObject).map((one) => [operationKey(one), one]))
  const now = new Map(plan.operations.map(describeOperation).map((one) => [operationKey(one), one]))
  const names = [...before, ...now].flatMap(([identity, { name }]) =>
    before.has(identity) && now.has(identity) ? [] : [String(name)],
  )
  if (names.length === 0) return undefined
  const shown = [...new Set(names)].map((name) => JSON.stringify(name))
  const more = shown.length > MAX_NAMES ? ` and ${shown.length - MAX_NAMES} more` : ''
  return `Since the plan was made, the service or the files changed: ${shown.slice(0, MAX_NAMES).join(', ')}${more}. Nothing was applied; make a new plan.`
}

const MAX_NAMES = 10

/** The ETag identifies the document of the service, the digest that of the file. */
const operationKey = ({ op, id, ifMatch, name, digest }: JsonObject): string =>
  JSON.stringify([op, id ?? null, ifMatch ?? null, name ?? null, digest ?? null])

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
