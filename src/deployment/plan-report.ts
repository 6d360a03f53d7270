/** A plan as lines for people. */
import { describeChange, type PlaceChange } from '../document-diff/document-diff.ts'
import type { Json } from '../domain/json.ts'
import { hideCredentials } from './credentials.ts'
import type { DeploymentPlan, PlannedOperation } from './deployment-plan.ts'

const MARKS = { create: '+', replace: '~', delete: '-' } as const
const CHANGE_MARKS = { added: '+', removed: '-', changed: '~', moved: '>' } as const

/** Of an operation; a first import of a large document has more. */
const MOST_CHANGES = 50
const MOST_CHARACTERS = 200

/** The lines without their ends. Control characters of documents are escaped. */
export function reportPlan({ operations, unchanged, leftOver }: DeploymentPlan): readonly string[] {
  const count = (wanted: PlannedOperation['op']) => operations.filter(({ op }) => op === wanted).length
  const totals = `${count('create')} to create, ${count('replace')} to replace, ${count('delete')} to delete, ${unchanged} unchanged.`
  const left = leftOver.map(
    (name) => `? ${JSON.stringify(name)}: has the labels of the project and no file; --prune deletes it`,
  )
  return [...operations.flatMap(reportOperation), ...left, totals]
}

function reportOperation({ op, name, file, renamedFrom, takesOver, changes }: PlannedOperation): readonly string[] {
  const notes = [
    ...(file === undefined ? [] : [file]),
    ...(renamedFrom === undefined ? [] : [`was ${JSON.stringify(renamedFrom)}`]),
    ...(takesOver === undefined ? [] : ['not of this project yet']),
  ]
  const rest = changes.length - MOST_CHANGES
  return [
    `${MARKS[op]} ${JSON.stringify(name)}${notes.length === 0 ? '' : ` (${notes.join('; ')})`}`,
    ...changes.slice(0, MOST_CHANGES).map((change) => `    ${reportChange(hideCredentials(change))}`),
    ...(rest > 0 ? [`    and ${rest} more`] : []),
  ]
}

function reportChange(change: PlaceChange): string {
  const { kind, from, to, after } = change
  const { path } = describeChange(change)
  const place = after === undefined ? '' : after === null ? ' (first)' : ` (after ${JSON.stringify(after)})`
  const values = {
    added: () => `: ${shown(to)}${place}`,
    removed: () => `: ${shown(from)}`,
    changed: () => `: ${shown(from)} -> ${shown(to)}`,
    moved: () => place,
  }
  return `${CHANGE_MARKS[kind]} ${path}${values[kind]()}`
}

function shown(value: Json | undefined): string {
  const text = JSON.stringify(value) ?? ''
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text
}
