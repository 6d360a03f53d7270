/** `crosswalk lint`: reads documents, fills in values, checks as a registration would, and reports. */

import { createOfflineServices } from '../app/offline.ts'
import type { Json } from '../core/json.ts'
import { isError } from '../core/lint.ts'
import { checkFiles } from '../endpoints/check-files.ts'
import { CommandFault, counted, jsonText, requireSettings, type Terminal } from './command.ts'
import type { Ending, Given } from './commands.ts'
import { formatLint, type LocatedLint, locateLints } from './project/located-lint.ts'
import { type FileDocument, fillDocument, findDocuments, listFiles, readDocument } from './project/project-documents.ts'
import {
  chooseTarget,
  demandDocuments,
  locateProject,
  type Project,
  type ProjectTarget,
  readProject,
} from './project/project-file.ts'
import { lintProjectUse, type ReadTables, readTables } from './project/project-tables.ts'

type LintFormat = Given<'lint'>['format']

/** `targets`: those that have the fault, if not all that were checked have it. */
export type FoundLint = LocatedLint & Readonly<{ targets?: readonly string[] }>

export type LintReport = Readonly<{
  documents: number
  errors: number
  warnings: number
  /** In the order of the files and of their lines. */
  findings: readonly FoundLint[]
}>

export async function run(given: Given<'lint'>, terminal: Terminal): Promise<Ending<'lint'>> {
  const report = await lint(given, terminal)
  terminal.write(WRITERS[given.format](report))
  const { documents, errors, warnings } = report
  terminal.note(`${counted(documents, 'document')}, ${counted(errors, 'error')}, ${counted(warnings, 'warning')}`)
  return errors > 0 || (given.strict && warnings > 0) ? 'findings' : 'done'
}

async function lint({ files: given, target, ...options }: Given<'lint'>, terminal: Terminal): Promise<LintReport> {
  const file = locateProject(given, options)
  const { project, faults } = file === undefined ? { project: undefined, faults: [] } : readProject(file)
  // Nothing is known of the documents of a project that cannot be read.
  if (file !== undefined && project === undefined) return createReport(0, faults)
  const documents = readAll(given, project)
  const tables = await readTables(project)
  const found = new Map<string, { lint: LocatedLint; targets: string[] }>()
  const targets = targetsFor(documents, project, target)
  for (const one of targets) {
    for (const lint of await lintFor(documents, { project, tables }, one, terminal)) {
      const { file, line, column, path, message } = lint
      const key = JSON.stringify([file, line, column, path, message])
      const entry = found.get(key) ?? { lint, targets: [] }
      entry.targets.push(one?.name ?? '')
      found.set(key, entry)
    }
  }
  const lints = [...found.values()].map(
    ({ lint, targets: own }): FoundLint => (own.length === targets.length ? lint : { ...lint, targets: own }),
  )
  return createReport(documents.length, [...faults, ...tables.lints, ...inOrder(lints, documents)])
}

function readAll(given: readonly string[], project: Project | undefined): readonly FileDocument[] {
  demandDocuments(given, project)
  const files = given.length === 0 && project !== undefined ? findDocuments(project) : listFiles(given)
  if (files.length === 0) throw new CommandFault('There are no documents to check.')
  return files.map((path) => readDocument(path, project))
}

/** Documents without values are the same for every target. */
function targetsFor(
  documents: readonly FileDocument[],
  project: Project | undefined,
  name: string | undefined,
): readonly (ProjectTarget | undefined)[] {
  const chosen = chooseTarget(project, name)
  if (chosen !== undefined) return [chosen]
  const all = project?.targets ?? []
  const differ = documents.some(({ whole }) => JSON.stringify(whole)?.includes('${value:'))
  return all.length === 0 || !differ ? [undefined] : all
}

async function lintFor(
  documents: readonly FileDocument[],
  { project, tables }: Readonly<{ project: Project | undefined; tables: ReadTables }>,
  target: ProjectTarget | undefined,
  terminal: Terminal,
): Promise<readonly LocatedLint[]> {
  const settings = requireSettings(terminal)
  const filled = documents.map((document) => fillDocument(document, project, target))
  const readable = filled.flatMap(({ document, ...file }) => (document === undefined ? [] : [{ ...file, document }]))
  const services = createOfflineServices(settings)
  const progress = terminal.progress('documents')
  const checks = await checkFiles(readable, { services, settings, progress })
  const lints = new Map(
    readable.map(({ path }, index) => {
      const { lints: own = [], tableUses = [] } = checks[index] ?? {}
      const unfound = project === undefined ? [] : tableUses.flatMap((use) => lintProjectUse(use, tables))
      return [path, [...own, ...unfound]]
    }),
  )
  return filled.flatMap(({ file, path, positions, lints: own }) => locateLints(file, lints.get(path) ?? own, positions))
}

function inOrder(lints: readonly FoundLint[], documents: readonly FileDocument[]): readonly FoundLint[] {
  const order = new Map(documents.map(({ file }, index) => [file, index]))
  const place = ({ file }: FoundLint): number => order.get(file) ?? -1
  return lints.toSorted((one, other) => place(one) - place(other) || one.line - other.line || one.column - other.column)
}

function createReport(documents: number, findings: readonly FoundLint[]): LintReport {
  const errors = findings.filter(isError).length
  return { documents, errors, warnings: findings.length - errors, findings }
}

/** For people, for programs, and for reviews on GitHub. */
const WRITERS: Readonly<Record<LintFormat, (report: LintReport) => string>> = {
  text: ({ findings }) => findings.map((one) => `${formatLint(one)}${formatTargets(one)}\n`).join(''),
  github: ({ findings }) => findings.map((one) => `${githubCommand(one)}\n`).join(''),
  json: jsonText,
  sarif: ({ findings }) => jsonText(sarifLog(findings)),
}

/** A workflow command of GitHub Actions, which shows the fault at its line. */
function githubCommand(found: FoundLint): string {
  const { file, line, column, path, message, severity } = found
  const place = [
    `file=${escaped(file)}`,
    `line=${line}`,
    `col=${column}`,
    ...(path === '' ? [] : [`title=${escaped(path)}`]),
  ]
  return `::${severity} ${place.join(',')}::${escapedText(`${message}${formatTargets(found)}`)}`
}

const escapedText = (text: string): string =>
  text.replace(/[%\r\n]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`)

const escaped = (property: string): string => escapedText(property).replaceAll(':', '%3A').replaceAll(',', '%2C')

/** For the end of a sentence. */
const formatTargets = ({ targets }: FoundLint): string =>
  targets === undefined ? '' : ` (target ${targets.join(', ')})`

const SARIF_SCHEMA = 'https://json.schemastore.org/sarif-2.1.0.json'

/** Lints have no codes, so the rule of a result is the field of the document that it is about. */
const ruleFor = ({ path }: FoundLint): string => /^[A-Za-z]+/.exec(path)?.[0] ?? 'document'

/** A log of the Static Analysis Results Interchange Format (SARIF) 2.1.0 of OASIS. */
function sarifLog(findings: readonly FoundLint[]): Json {
  const rules = [...new Set(findings.map(ruleFor))].sort()
  return {
    $schema: SARIF_SCHEMA,
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'crosswalk',
            rules: rules.map((id) => ({
              id,
              shortDescription: { text: `The field "${id}" of an endpoint document.` },
            })),
          },
        },
        columnKind: 'utf16CodeUnits',
        results: findings.map((found) => toSarifResult(found, rules)),
      },
    ],
  }
}

function toSarifResult(found: FoundLint, rules: readonly string[]): Json {
  const { file, line, column, path, message, severity } = found
  const ruleId = ruleFor(found)
  return {
    ruleId,
    ruleIndex: rules.indexOf(ruleId),
    level: severity,
    message: { text: `${path === '' ? '' : `${path}: `}${message}${formatTargets(found)}` },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: toUri(file) },
          region: { startLine: line, startColumn: column },
        },
        ...(path === '' ? {} : { logicalLocations: [{ fullyQualifiedName: path }] }),
      },
    ],
  }
}

/** A relative reference for a file of the working folder (RFC 3986 §4.2). */
const toUri = (file: string): string =>
  `${file.startsWith('/') ? 'file://' : ''}${file.split(/[\\/]/).map(encodeURIComponent).join('/')}`
