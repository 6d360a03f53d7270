/** The report of an import as data: every change of every document, and what was left out. */

import type { SecretLine } from '../../src/cli/deployment/credential-names.ts'
import { printable } from '../../src/cli/terminal-text.ts'
import type { Json } from '../../src/core/json.ts'
import type { ChangeLevel, DocumentChange } from './draft.ts'
import type { SkippedSource } from './found-records.ts'
import type { FoundFault } from './register-documents.ts'

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
export function createReport(parts: ReportParts, secrets: readonly SecretLine[]): ImportReport {
  const { documents, skipped } = parts
  const changes = documents.flatMap((document) => document.changes)
  const count = (level: ChangeLevel) => changes.filter((change) => change.level === level).length
  const report: ImportReport = {
    counts: {
      documents: documents.length,
      carried: count('carried'),
      changed: count('changed'),
      differs: count('differs'),
      lost: count('lost'),
      faults: documents.flatMap(({ faults }) => faults).length,
      states: documents.filter(({ state }) => state !== undefined).length,
      skipped: skipped.length,
      secrets: parts.secrets.names.length,
    },
    ...parts,
  }
  return withoutSecrets(report, secrets)
}

/** Shorter values are not credentials and occur everywhere. */
const MIN_SECRET_LENGTH = 4

/** The rules give no credentials to the report; a sentence of a check may still quote a document. */
function withoutSecrets(report: ImportReport, secrets: readonly SecretLine[]): ImportReport {
  const values = secrets.flatMap(({ value }) =>
    value.length < MIN_SECRET_LENGTH ? [] : [value, encodeURIComponent(value.toWellFormed())],
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

const MEANINGS: Readonly<Record<ChangeLevel, string>> = {
  lost: 'has no counterpart here',
  differs: 'works, with another effect',
  changed: 'written otherwise, with the same effect',
  carried: 'taken unchanged, and worth knowing',
}

/** Longer values and sentences are whole in the JSON report. */
const MAX_VALUE_LENGTH = 200
const MAX_SENTENCE_LENGTH = 1_000
const MAX_PATHS_PER_ROW = 4

export function reportMarkdown(report: ImportReport): string {
  const { counts, documents, sources } = report
  const head = [
    '# Import report',
    `From ${sources.map(code).join(', ')}. Documents: ${counts.documents}, states: ${counts.states}.`,
    table(
      ['level', 'changes', 'meaning'],
      LEVELS.map((level) => [level, String(counts[level]), MEANINGS[level]]),
    ),
    '## What to do next',
    nextSteps(report),
    '## Documents',
    ...documents.flatMap(documentSection),
    ...skippedSection(report),
  ]
  return `${head.join('\n\n')}\n`
}

function nextSteps({ documents, secrets }: ImportReport): string {
  const places = (level: ChangeLevel) => {
    const all = documents.flatMap(({ file, changes }) =>
      changes
        .filter((change) => change.level === level)
        .map((change) => ({ reason: change.reason, place: `${code(file)}, ${formatPath(change)}` })),
    )
    return [...Map.groupBy(all, ({ reason }) => reason)].flatMap(([reason, [first, ...more]]) => {
      if (more.length === 0) return [`   - ${first?.place}: ${plain(reason)}`]
      return [`   - ${plain(reason)}`, ...[first, ...more].map((one) => `     - ${one?.place}`)]
    })
  }
  const refused = documents.flatMap(({ file, faults }) =>
    faults.map((fault) => `   - ${code(file)}, ${formatPath(fault)}: ${plain(fault.message)}`),
  )
  const names = (some: readonly string[]) => some.map(code).join(', ')
  const steps: readonly (readonly [sentence: string, details: readonly string[] | boolean])[] = [
    ['Fix what a registration refuses, in the files:', refused],
    ['Replace what was lost in another way, or decide to do without it:', places('lost')],
    ['Check that the other effect is right, or change the file:', places('differs')],
    [
      `Give the service the variables of ${code(secrets.file)}, to which the documents refer, by adding its lines to its own ${code('.env')} file and starting it again: ${names(secrets.names)}.`,
      secrets.names.length > 0,
    ],
    ...secrets.unwritable.map(
      (name) => [`Set ${code(name)} yourself: such a file cannot hold its value.`, true] as const,
    ),
    [
      `Note that these variables have other values than in the import before: ${names(secrets.changed)}.`,
      secrets.changed.length > 0,
    ],
    [
      'Register the documents, from their folder into the same folder, in the folder of Crosswalk: `npm start -s -- import FOLDER --output FOLDER --apply URL`.',
      true,
    ],
  ]
  return steps
    .filter(([, details]) => (typeof details === 'boolean' ? details : details.length > 0))
    .map(([sentence, details], index) =>
      [`${index + 1}. ${sentence}`, ...(typeof details === 'boolean' ? [] : details)].join('\n'),
    )
    .join('\n')
}

function documentSection({ name, route, source, file, state, changes, faults, warnings }: DocumentReport): string[] {
  const rows = LEVELS.flatMap((level) =>
    groupChanges(changes.filter((change) => change.level === level)).map((alike) => [
      level,
      alike.map(formatPath).join(', '),
      alike.flatMap(({ before }) => (before === undefined ? [] : shown(before))).join(', '),
      shown(alike[0].after),
      plain(alike[0].reason),
    ]),
  )
  const checks = [
    ...faults.map(({ path, message }) => ['fault', code(path), plain(message)]),
    ...warnings.map(({ path, message }) => ['warning', code(path), plain(message)]),
  ]
  const files = state === undefined ? code(file) : `${code(file)} and ${code(state)}`
  return [
    `### ${plain(name)}`,
    `${code(route)}, from ${code(source)}, written to ${files}.`,
    rows.length === 0 ? 'No changes.' : table(['level', 'path', 'before', 'after', 'reason'], rows),
    ...(checks.length === 0 ? [] : [table(['check', 'path', 'message'], checks)]),
  ]
}

type Alike = [DocumentChange, ...DocumentChange[]]

/** Most of what was left out is the same few fields in each document; they share a row, after what became another value. */
function groupChanges(changes: readonly DocumentChange[]): readonly Alike[] {
  const rewritten = changes.filter(({ after }) => after !== undefined).map((change): Alike => [change])
  const removed = Map.groupBy(
    changes.filter(({ after }) => after === undefined),
    ({ reason }) => reason,
  )
  return [...rewritten, ...[...removed.values()].flatMap(inRows)]
}

const inRows = (alike: readonly DocumentChange[]): readonly Alike[] =>
  Array.from(
    { length: Math.ceil(alike.length / MAX_PATHS_PER_ROW) },
    (_, row) => alike.slice(row * MAX_PATHS_PER_ROW, (row + 1) * MAX_PATHS_PER_ROW) as Alike,
  )

function skippedSection({ skipped }: ImportReport): string[] {
  if (skipped.length === 0) return []
  return [
    '## Not imported',
    table(
      ['source', 'reason'],
      skipped.map(({ source, reason }) => [code(source), plain(reason)]),
    ),
  ]
}

const formatPath = ({ path }: Readonly<{ path: string }>): string => (path === '' ? 'the document' : code(path))

const shown = (value: Json | undefined): string => (value === undefined ? '' : code(JSON.stringify(value)))

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

/** Texts of documents: on one line, without effect as Markdown or HTML, within a table too. */
const plain = (text: string): string => oneLine(text, MAX_SENTENCE_LENGTH).replace(/[\\`*_[\]<>|]/g, '\\$&')

function code(text: string): string {
  const line = oneLine(text, MAX_VALUE_LENGTH).replaceAll('|', '\\|')
  const longest = Math.max(0, ...Array.from(line.matchAll(/`+/g), ([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return longest === 0 ? `${fence}${line}${fence}` : `${fence} ${line} ${fence}`
}

function oneLine(text: string, max: number): string {
  const start = text.length > max ? `${text.slice(0, max)}…` : text
  return printable(start)
}
