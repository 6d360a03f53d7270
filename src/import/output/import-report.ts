/** The report of an import as data: every change of every document, and what was left out. */
import type { Json } from '../../domain/json.ts'
import type { ChangeLevel, DocumentChange, SecretLine } from '../conversion.ts'
import type { SkippedSource } from '../sources/source-reading.ts'
import type { FoundFault } from './check-documents.ts'

export type DocumentReport = Readonly<{
  name: string
  /** Method and pattern. */
  route: string
  source: string
  file: string
  /** The file of its state, if a state was found. */
  state?: string
  changes: readonly DocumentChange[]
  /** What a registration would refuse. */
  faults: readonly FoundFault[]
  warnings: readonly FoundFault[]
}>

export type ImportReport = Readonly<{
  sources: readonly string[]
  counts: Readonly<Record<ChangeLevel | 'documents' | 'faults' | 'states' | 'skipped' | 'secrets', number>>
  documents: readonly DocumentReport[]
  skipped: readonly SkippedSource[]
  /** Names only. */
  secrets: Readonly<{
    file: string
    names: readonly string[]
    changed: readonly string[]
    unwritable: readonly string[]
  }>
}>

export const LEVELS = ['lost', 'differs', 'changed', 'carried'] as const satisfies readonly ChangeLevel[]

export type ReportParts = Omit<ImportReport, 'counts'>

/** Counts, and removes the credentials from every text of the report. */
export function reportOf(parts: ReportParts, secrets: readonly SecretLine[]): ImportReport {
  const changes = parts.documents.flatMap((document) => document.changes)
  const count = (level: ChangeLevel) => changes.filter((change) => change.level === level).length
  const report: ImportReport = {
    counts: {
      documents: parts.documents.length,
      carried: count('carried'),
      changed: count('changed'),
      differs: count('differs'),
      lost: count('lost'),
      faults: parts.documents.reduce((sum, { faults }) => sum + faults.length, 0),
      states: parts.documents.filter(({ state }) => state !== undefined).length,
      skipped: parts.skipped.length,
      secrets: parts.secrets.names.length,
    },
    ...parts,
  }
  return withoutSecrets(report, secrets)
}

/** Shorter values are not credentials and occur everywhere. */
const SHORTEST_SECRET = 4

/** The rules give no credentials to the report; a sentence of a check may still quote a document. */
function withoutSecrets(report: ImportReport, secrets: readonly SecretLine[]): ImportReport {
  const values = secrets.flatMap(({ value }) =>
    value.length < SHORTEST_SECRET ? [] : [value, encodeURIComponent(value.toWellFormed())],
  )
  if (values.length === 0) return report
  const hide = (value: Json): Json => {
    if (typeof value === 'string') return values.reduce((text, secret) => text.replaceAll(secret, '***'), value)
    if (Array.isArray(value)) return value.map(hide)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [String(hide(name)), hide(member)]))
  }
  return { ...report, documents: hide(report.documents as unknown as Json) as unknown as ImportReport['documents'] }
}
