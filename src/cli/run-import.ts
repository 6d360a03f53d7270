/** What `crosswalk import` does: reads, converts, checks, writes, and registers if it is asked to. */
import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { Conversion } from '../../migrate/import/convert-documents.ts'
import { convertDocuments } from '../../migrate/import/convert-documents.ts'
import type { SourceReading } from '../../migrate/import/found-records.ts'
import { type ImportReport, LEVELS, reportMarkdown } from '../../migrate/import/import-report.ts'
import {
  describeImport,
  ENV_FILE,
  envText,
  FileInTheWay,
  filesOf,
  type ImportedDocument,
  placeDocuments,
  writeFiles,
} from '../../migrate/import/imported-files.ts'
import { isUrl, readSources, realpathOf, shownSource } from '../../migrate/import/read-sources.ts'
import { type CheckedDocument, checkDocuments, registerDocuments } from '../../migrate/import/register-documents.ts'
import { writeFault } from '../domain/files/files.ts'
import { type Environment, readSettings, type Settings } from '../settings/settings.ts'
import { createOfflineServices } from '../wiring/offline-services.ts'
import { type ImportArguments, type ImportOptions, readImportOptions } from './import-options.ts'
import { printable } from './terminal-text.ts'

const DONE = 0
const LOST = 1
const NOT_DONE = 3

/** A service of the peer answers at once; a slow one reads its database. */
const PEER_TIMEOUT_MS = 60_000
/** A batch of a thousand documents is compiled before it is answered. */
const REGISTER_TIMEOUT_MS = 300_000

/** Of a name of an endpoint, on a line for people. */
const MOST_OF_A_NAME = 100

type Output = Readonly<{ write(text: string): unknown }>
export type ImportProcess = Readonly<{ env: Environment; stdout: Output; stderr: Output }>

/** Sentences for the person who imports; nothing was written, or nothing was registered. */
class ImportFault extends Error {
  readonly faults: readonly string[]
  constructor(faults: readonly string[]) {
    super(faults.join('\n'))
    this.faults = faults
  }
}

/** Out: the exit code of the command. Results go to standard output, faults to standard error. */
export async function runImport(
  sources: readonly string[],
  given: ImportArguments,
  { env, stdout, stderr }: ImportProcess,
): Promise<number> {
  try {
    const { options, settings } = readArguments(given, env)
    const found = await readAll(sources, options.output)
    const { documents, secrets } = converted(found, options)
    const imported = placeDocuments(documents, found, options.output)
    refuseOwnFolder(imported, options.output)
    const checks = await checkDocuments(imported, { services: createOfflineServices(settings), settings })
    const lines = envText(secrets, textOf(join(options.output, ENV_FILE)))
    const shown = sources.map(shownSource)
    const report = describeImport({ sources: shown, found, imported, checks, secrets, env: lines })
    const isInPlace = imported.every((one) => one.isInPlace)
    if (!isInPlace || given.report !== undefined) {
      write(imported, report, secrets.length === 0 ? undefined : lines.text, options)
    }
    stdout.write(summaryOf(report, options, isInPlace))
    if (options.apply !== undefined) stdout.write(await register(imported, checks, options.apply))
    return report.counts.lost + report.counts.faults > 0 ? LOST : DONE
  } catch (thrown) {
    if (!(thrown instanceof ImportFault)) throw thrown
    for (const fault of thrown.faults) stderr.write(`crosswalk: ${printable(fault)}\n`)
    return NOT_DONE
  }
}

function readArguments(given: ImportArguments, env: Environment): { options: ImportOptions; settings: Settings } {
  const { options, faults } = readImportOptions(given, env)
  const reading = readSettings(env)
  if (options === undefined || !reading.ok)
    throw new ImportFault([...(faults ?? []), ...(reading.ok ? [] : reading.faults)])
  return { options, settings: reading.settings }
}

async function readAll(sources: readonly string[], output: string): Promise<SourceReading> {
  const found = await readSources(sources, { output, timeoutMs: PEER_TIMEOUT_MS })
  if (found.faults.length > 0) throw new ImportFault(found.faults)
  if (found.documents.length > 0) return found
  throw new ImportFault(['The sources have states and no endpoint document; give the documents too.'])
}

/** Otherwise each document would be in the folder twice, and the next import of the folder would find both. */
function refuseOwnFolder(imported: readonly ImportedDocument[], output: string): void {
  const root = realpathOf(output)
  const own = imported.find(({ source, isInPlace }) => {
    const folder = isInPlace || isUrl(source) ? undefined : realpathOf(dirname(source))
    return root !== undefined && folder !== undefined && !/^\.\.(?:[\\/]|$)/.test(relative(root, folder))
  })
  if (own === undefined) return
  throw new ImportFault([
    `${own.source} is in the folder of --output and was not imported there; move it, or give another folder.`,
  ])
}

function converted(
  found: SourceReading,
  { conversion: options }: ImportOptions,
): Exclude<Conversion, { undecided: string }> {
  const conversion = convertDocuments(found, options)
  if (conversion.undecided !== undefined) throw new ImportFault([conversion.undecided])
  return conversion
}

function write(
  imported: readonly ImportedDocument[],
  report: ImportReport,
  secrets: string | undefined,
  { output, reports }: ImportOptions,
): void {
  const texts = [
    { path: reports.markdown, content: reportMarkdown(report) },
    { path: reports.json, content: `${JSON.stringify(report, null, 2)}\n` },
  ]
  try {
    writeFiles(output, filesOf(imported, secrets, texts))
  } catch (thrown) {
    if (thrown instanceof FileInTheWay) throw new ImportFault([thrown.message])
    throw new ImportFault([writeFault(pathOf(thrown) ?? output, thrown)])
  }
}

const pathOf = (thrown: unknown): string | undefined =>
  thrown instanceof Error && 'path' in thrown ? shownPath(String(thrown.path)) : undefined

/** Undefined if there is no such file. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function summaryOf(
  { counts, documents, secrets, skipped }: ImportReport,
  options: ImportOptions,
  isInPlace: boolean,
): string {
  const { output, reports } = options
  const lines = documents.map(({ file, name, changes, faults }) => {
    const levels = LEVELS.flatMap((level) => {
      const count = changes.filter((change) => change.level === level).length
      return count === 0 ? [] : `${level} ${count}`
    })
    const parts = [...(faults.length === 0 ? [] : [`faults ${faults.length}`]), ...levels]
    return `${file}\t${name.slice(0, MOST_OF_A_NAME)}\t${parts.join(', ') || 'no changes'}`
  })
  const faults = documents.flatMap((document) =>
    document.faults.map(({ path, message }) => `${document.file}: ${path === '' ? '' : `${path}: `}${message}`),
  )
  const total = ['documents', 'states', ...LEVELS]
    .map((name) => `${name} ${counts[name as keyof typeof counts]}`)
    .join(', ')
  return [
    ...lines,
    ...faults,
    `${total}, not imported ${skipped.length}`,
    isInPlace
      ? `They are in ${shownPath(output)} already.`
      : `Written to ${shownPath(output)}; the report is ${shownPath(reports.markdown)}.`,
    ...(counts.secrets === 0
      ? []
      : [`Credentials (${counts.secrets}) are in ${shownPath(join(output, secrets.file))}.`]),
    ...(counts.faults === 0 ? [] : ['Documents with faults would be refused; mend them in their files.']),
  ]
    .map((line) => `${line.split('\t').map(printable).join('\t')}\n`)
    .join('')
}

const shownPath = (path: string): string => {
  const short = relative('', path)
  return short === '' || short.startsWith('..') ? path : short
}

/** Out: lines for people. Throws ImportFault if nothing was registered. */
async function register(
  imported: readonly ImportedDocument[],
  checks: readonly CheckedDocument[],
  apply: Exclude<ImportOptions['apply'], undefined>,
): Promise<string> {
  const registrations = imported.flatMap(({ file, document, state }, index) => {
    const { faults = [], stored } = checks[index] ?? {}
    return stored === undefined || faults.length > 0 ? [] : [{ file, document, stored, state }]
  })
  if (registrations.length < imported.length) {
    throw new ImportFault(['Nothing was registered, because some documents have faults; mend them in their files.'])
  }
  const result = await registerDocuments(registrations, { ...apply, timeoutMs: REGISTER_TIMEOUT_MS })
  if (result.faults.length > 0) throw new ImportFault([...result.faults, 'Nothing was registered.'])
  const { created, replaced, unchanged, warnings } = result
  const lines = [
    `Registered at ${apply.url}: ${created} created, ${replaced} replaced, ${unchanged} there already.`,
    ...(warnings.length === 0 ? [] : [`The service warns (${warnings.length}):`, ...warnings]),
  ]
  return lines.map((line) => `${printable(line)}\n`).join('')
}
