/** The report of an import as data: every change of every document, and what was left out. */

import { printable } from '../../src/cli/terminal-text.ts'
import type { SecretLine } from '../../src/deployment/credential-names.ts'
import type { Json } from '../../src/domain/json.ts'
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

const MEANINGS: Readonly<Record<ChangeLevel, string>> = {
  lost: 'has no counterpart here',
  differs: 'works, with another effect',
  changed: 'written otherwise, with the same effect',
  carried: 'taken as it is, and worth knowing',
}

/** Longer values and sentences are whole in the JSON report. */
const MOST_OF_A_VALUE = 200
const MOST_OF_A_SENTENCE = 1_000
const MOST_IN_A_ROW = 4

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
  const each = (level: ChangeLevel) =>
    documents.flatMap(({ file, changes }) =>
      changes.filter((change) => change.level === level).map((change) => ({ file, change })),
    )
  const items = (ones: ReturnType<typeof each>) => {
    const byReason = Map.groupBy(ones, ({ change }) => change.reason)
    return [...byReason].flatMap(([reason, alike]) => {
      const places = alike.map(({ file, change }) => `${code(file)}, ${placeOf(change)}`)
      if (places.length === 1) return `   - ${places[0]}: ${plain(reason)}`
      return [`   - ${plain(reason)}`, ...places.map((place) => `     - ${place}`)]
    })
  }
  const [lost, differs] = [each('lost'), each('differs')]
  const faulty = documents.filter(({ faults }) => faults.length > 0)
  const steps: string[] = []
  const step = (sentence: string, details: readonly string[] = []) =>
    steps.push([`${steps.length + 1}. ${sentence}`, ...details].join('\n'))
  if (faulty.length > 0) {
    const details = faulty.flatMap(({ file, faults }) =>
      faults.map(
        ({ path, message }) => `   - ${code(file)}, ${path === '' ? 'the document' : code(path)}: ${plain(message)}`,
      ),
    )
    step('Mend what a registration refuses, in the files:', details)
  }
  if (lost.length > 0) step('Replace what was lost in another way, or decide to do without it:', items(lost))
  if (differs.length > 0) step('Check that the other effect is right, or change the file:', items(differs))
  if (secrets.names.length > 0) {
    step(
      `Give the service the variables of ${code(secrets.file)}, to which the documents refer, by adding its lines to its own ${code('.env')} file and starting it again: ${secrets.names.map(code).join(', ')}.`,
    )
  }
  for (const name of secrets.unwritable) step(`Set ${code(name)} yourself: such a file cannot hold its value.`)
  if (secrets.changed.length > 0) {
    step(
      `Note that these variables have other values than in the import before: ${secrets.changed.map(code).join(', ')}.`,
    )
  }
  step(
    'Register the documents, from their folder into the same folder, in the folder of Crosswalk: `npm start -s -- import FOLDER --output FOLDER --apply URL`.',
  )
  return steps.join('\n')
}

function documentSection({ name, route, source, file, state, changes, faults, warnings }: DocumentReport): string[] {
  const rows = LEVELS.flatMap((level) =>
    rowsOf(changes.filter((change) => change.level === level)).map((alike) => [
      level,
      alike.map(placeOf).join(', '),
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
function rowsOf(changes: readonly DocumentChange[]): readonly Alike[] {
  const rewritten = changes.filter(({ after }) => after !== undefined).map((change): Alike => [change])
  const removed = Map.groupBy(
    changes.filter(({ after }) => after === undefined),
    ({ reason }) => reason,
  )
  return [...rewritten, ...[...removed.values()].flatMap(inRows)]
}

const inRows = (alike: readonly DocumentChange[]): readonly Alike[] =>
  Array.from(
    { length: Math.ceil(alike.length / MOST_IN_A_ROW) },
    (_, row) => alike.slice(row * MOST_IN_A_ROW, (row + 1) * MOST_IN_A_ROW) as Alike,
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

const placeOf = ({ path }: DocumentChange): string => (path === '' ? 'the document' : code(path))

const shown = (value: Json | undefined): string => (value === undefined ? '' : code(JSON.stringify(value)))

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

/** Texts of documents: on one line, without effect as Markdown or HTML, within a table too. */
const plain = (text: string): string => oneLine(text, MOST_OF_A_SENTENCE).replace(/[\\`*_[\]<>|]/g, '\\$&')

function code(text: string): string {
  const line = oneLine(text, MOST_OF_A_VALUE).replaceAll('|', '\\|')
  const longest = Math.max(0, ...Array.from(line.matchAll(/`+/g), ([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return longest === 0 ? `${fence}${line}${fence}` : `${fence} ${line} ${fence}`
}

function oneLine(text: string, most: number): string {
  const start = text.length > most ? `${text.slice(0, most)}…` : text
  return printable(start)
}
