/** `crosswalk import`: reads, converts, checks, writes, and registers if it is asked to. */
import { readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { type Conversion, type ConversionOptions, convertDocuments } from '../../migrate/import/convert-documents.ts'
import type { SourceReading } from '../../migrate/import/found-records.ts'
import { type ImportReport, LEVELS, reportMarkdown } from '../../migrate/import/import-report.ts'
import {
  assignDocuments,
  describeImport,
  ENV_FILE,
  envText,
  FileExists,
  type ImportedDocument,
  toFiles,
  writeFiles,
} from '../../migrate/import/imported-files.ts'
import { isUrl, readSources, shownSource, tryRealpath } from '../../migrate/import/read-sources.ts'
import { type CheckedDocument, checkDocuments, registerDocuments } from '../../migrate/import/register-documents.ts'
import { type SharedTable, shareTables, tableText } from '../../migrate/import/shared-tables.ts'
import { createOfflineServices } from '../app/offline.ts'
import { writeFault } from '../core/files/files.ts'
import { missingScheme } from '../core/http.ts'
import { readSettings } from '../settings/settings.ts'
import { CommandFault, jsonText, readApiKey, sentenceAt, shownPath, type Terminal } from './command.ts'
import type { Ending, Given } from './commands.ts'
import { batchContent, readsTables } from './deployment/table-plan.ts'
import { findProject } from './project/project-file.ts'
import { demandTables, TABLES_FOLDER } from './project/project-tables.ts'

/** A service of the peer answers at once; a slow one reads its database. */
const PEER_TIMEOUT_MS = 60_000
/** A batch of a thousand documents is compiled before it is answered. */
const REGISTER_TIMEOUT_MS = 300_000

/** Of a name of an endpoint, on a line for people. */
const MAX_NAME_LENGTH = 100

type ImportGiven = Given<'import'>

type ImportOptions = Readonly<{
  conversion: ConversionOptions
  output: string
  /** Absolute paths. */
  reports: Readonly<{ markdown: string; json: string }>
  apply: Readonly<{ url: string; key: string | undefined; replaces: boolean }> | undefined
}>

export async function run(given: ImportGiven, terminal: Terminal): Promise<Ending<'import'>> {
  const { options, settings } = readArguments(given, terminal)
  const found = await readAll(given.source, options.output)
  const { documents: alone, secrets } = converted(found, options)
  const canonical = new Set(found.documents.filter(({ isCanonical }) => isCanonical).map(({ source }) => source))
  const { documents, tables } = shareTables(alone, given.tables, ({ source }) => canonical.has(source))
  const imported = assignDocuments(documents, found, options.output)
  refuseOwnFolder(imported, options.output)
  const checks = await checkDocuments(imported, { services: createOfflineServices(settings), settings })
  const lines = envText(secrets, readIfThere(join(options.output, ENV_FILE)))
  const report = describeImport({
    sources: given.source.map(shownSource),
    found,
    imported,
    checks,
    secrets,
    env: lines,
  })
  const allInPlace = imported.every((one) => one.isInPlace)
  if (!allInPlace || given.report !== undefined) {
    const files = given.tables ? tables : []
    write(imported, files, report, secrets.length === 0 ? undefined : lines.text, options)
    for (const { name } of files) terminal.print(tablePath(options, name))
  }
  for (const line of summaryLines(report, options, allInPlace)) terminal.print(...line.split('\t'))
  if (options.apply !== undefined) {
    for (const line of await register(imported, checks, options)) terminal.print(line)
  }
  return report.counts.lost + report.counts.faults > 0 ? 'findings' : 'done'
}

/** Throws CommandFault with every fault of the arguments and the settings; none repeats a key. */
function readArguments(given: ImportGiven, { env }: Terminal) {
  const faults: string[] = []
  const output = resolve(given.output)
  if (statSync(output, { throwIfNoEntry: false })?.isDirectory() === false) {
    faults.push(`--output is wrong: ${given.output} is a file. Give a folder.`)
  }
  const conversion: ConversionOptions = {
    peerVersion: parseVersion(given.peerVersion, faults),
    consumerStart: parseConsumerStart(given.consumerStart, faults),
    rebase: given.rebase.flatMap((pair) => parseRebase(pair, faults)),
  }
  const reports = resolveReports(given.report, output, faults)
  const apply = parseApplyOptions(given, env, faults)
  const reading = readSettings(env)
  if (!reading.ok) faults.push(...reading.faults)
  if (faults.length > 0 || !reading.ok) throw new CommandFault(faults)
  return { options: { conversion, output, reports, apply }, settings: reading.settings }
}

function parseVersion(text: string | undefined, faults: string[]): string | undefined {
  if (text === undefined) return undefined
  const [, major, minor = '0', patch = '0'] = /^v?(\d{1,4})(?:\.(\d{1,4}))?(?:\.(\d{1,4}))?$/.exec(text) ?? []
  if (major === undefined) faults.push('--peer-version is wrong. Give a version such as 2.4.0.')
  return `${major}.${minor}.${patch}`
}

/** Names of groups are any text; 249 characters is what Kafka allows for names of topics, and what brokers keep. */
const CONSUMER_START = /^(?:earliest|latest|group:\S.{0,248})$/

function parseConsumerStart(text: string | undefined, faults: string[]): string | undefined {
  if (text !== undefined && !CONSUMER_START.test(text)) {
    faults.push('--consumer-start is wrong. Give earliest, latest, or group: and the name of a consumer group.')
  }
  return text
}

function parseRebase(pair: string, faults: string[]): ConversionOptions['rebase'] {
  const [, from, to] = /^(https?:\/\/[^=]+)=(https?:\/\/.+)$/i.exec(pair) ?? []
  if (from !== undefined && to !== undefined && URL.canParse(from) && URL.canParse(to)) return [{ from, to }]
  faults.push('--rebase is wrong. Give two URLs as FROM=TO, such as http://mapper:3003=http://crosswalk:3003.')
  return []
}

function resolveReports(file: string | undefined, output: string, faults: string[]): ImportOptions['reports'] {
  const base = file === undefined ? resolve(output, 'import-report') : resolve(file).replace(/\.(?:md|json)$/i, '')
  if (file !== undefined && !/[^/]\.(?:md|json)$/i.test(file)) {
    faults.push('--report is wrong. Give the name of a file that ends with .md or .json.')
  }
  return { markdown: `${base}.md`, json: `${base}.json` }
}

function parseApplyOptions(given: ImportGiven, env: Terminal['env'], faults: string[]): ImportOptions['apply'] {
  const { apply, keyFile, replace } = given
  if (apply === undefined) {
    if (keyFile !== undefined || replace)
      faults.push('--key-file and --replace belong to --apply. Give it too, or leave them out.')
    return undefined
  }
  const url = URL.canParse(apply) ? new URL(apply) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol))
    faults.push(`--apply is wrong. ${missingScheme(apply) ?? 'Give an http or https URL.'}`)
  if (url !== undefined && (url.username !== '' || url.password !== '' || url.search !== '')) {
    faults.push('--apply is wrong. Give the key in CROSSWALK_KEY or --key-file, not in the URL.')
  }
  try {
    return { url: apply, key: readApiKey(keyFile, env), replaces: replace }
  } catch (thrown) {
    if (!(thrown instanceof CommandFault)) throw thrown
    faults.push(...thrown.faults)
    return undefined
  }
}

async function readAll(sources: readonly string[], output: string): Promise<SourceReading> {
  const found = await readSources(sources, { output, timeoutMs: PEER_TIMEOUT_MS })
  if (found.faults.length > 0) throw new CommandFault(found.faults)
  if (found.documents.length > 0) return found
  throw new CommandFault(['The sources have states and no endpoint document; give the documents too.'])
}

/** Otherwise each document would be in the folder twice, and the next import of the folder would find both. */
function refuseOwnFolder(imported: readonly ImportedDocument[], output: string): void {
  const root = tryRealpath(output)
  const own = imported.find(({ source, isInPlace }) => {
    const folder = isInPlace || isUrl(source) ? undefined : tryRealpath(dirname(source))
    return root !== undefined && folder !== undefined && !/^\.\.(?:[\\/]|$)/.test(relative(root, folder))
  })
  if (own === undefined) return
  throw new CommandFault([
    `${own.source} is in the folder of --output and was not imported there; move it, or give another folder.`,
  ])
}

function converted(
  found: SourceReading,
  { conversion: options }: ImportOptions,
): Exclude<Conversion, { undecided: string }> {
  const conversion = convertDocuments(found, options)
  if (conversion.undecided !== undefined) throw new CommandFault([conversion.undecided])
  return conversion
}

/** In the folder of the project, if the import writes into one. */
const tablesFolder = ({ output }: Pick<ImportOptions, 'output'>): string =>
  dirname(findProject(output) ?? join(output, 'x'))
const tablePath = (options: Pick<ImportOptions, 'output'>, name: string): string =>
  shownPath(join(tablesFolder(options), TABLES_FOLDER, `${name}.csv`))

function write(
  imported: readonly ImportedDocument[],
  tables: readonly SharedTable[],
  report: ImportReport,
  secrets: string | undefined,
  { output, reports }: ImportOptions,
): void {
  const texts = [
    { path: reports.markdown, content: reportMarkdown(report) },
    { path: reports.json, content: jsonText(report) },
  ]
  try {
    const files = tables.map((one) => ({ path: resolve(tablePath({ output }, one.name)), content: tableText(one) }))
    writeFiles(output, toFiles(imported, secrets, texts, files))
  } catch (thrown) {
    if (thrown instanceof FileExists) throw new CommandFault([thrown.message])
    throw new CommandFault(writeFault(errorPath(thrown) ?? output, thrown))
  }
}

const errorPath = (thrown: unknown): string | undefined =>
  thrown instanceof Error && 'path' in thrown ? shownPath(String(thrown.path)) : undefined

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function summaryLines(
  { counts, documents, secrets, skipped }: ImportReport,
  options: ImportOptions,
  allInPlace: boolean,
): readonly string[] {
  const { output, reports } = options
  const lines = documents.map(({ file, name, changes, faults }) => {
    const levels = LEVELS.flatMap((level) => {
      const count = changes.filter((change) => change.level === level).length
      return count === 0 ? [] : `${level} ${count}`
    })
    const parts = [...(faults.length === 0 ? [] : [`faults ${faults.length}`]), ...levels]
    return `${file}\t${name.slice(0, MAX_NAME_LENGTH)}\t${parts.join(', ') || 'no changes'}`
  })
  const faults = documents.flatMap((document) =>
    document.faults.map(({ path, message }) => `${document.file}: ${sentenceAt(path, message)}`),
  )
  const total = ['documents', 'states', ...LEVELS]
    .map((name) => `${name} ${counts[name as keyof typeof counts]}`)
    .join(', ')
  return [
    ...lines,
    ...faults,
    `${total}, not imported ${skipped.length}`,
    allInPlace
      ? `They are in ${shownPath(output)} already.`
      : `Written to ${shownPath(output)}; the report is ${shownPath(reports.markdown)}.`,
    ...(counts.secrets === 0
      ? []
      : [`Credentials (${counts.secrets}) are in ${shownPath(join(output, secrets.file))}.`]),
    ...(counts.faults === 0 ? [] : ['Documents with faults would be refused; fix them in their files.']),
  ]
}

/** Out: lines for people. Throws CommandFault if nothing was registered. */
async function register(
  imported: readonly ImportedDocument[],
  checks: readonly CheckedDocument[],
  { apply, output }: ImportOptions,
): Promise<readonly string[]> {
  if (apply === undefined) return []
  const registrations = imported.flatMap(({ file, document, state }, index) => {
    const { faults = [], stored } = checks[index] ?? {}
    return stored === undefined || faults.length > 0 ? [] : [{ file, document, stored, state }]
  })
  if (registrations.length < imported.length) {
    throw new CommandFault(['Nothing was registered, because some documents have faults; fix them in their files.'])
  }
  const read = new Set(registrations.flatMap(({ stored }) => readsTables(stored)))
  const tables = (read.size === 0 ? [] : await demandTables({ folder: tablesFolder({ output }) }))
    .filter(({ name }) => read.has(name))
    .map((table) => ({ name: table.name, content: batchContent(table) }))
  const result = await registerDocuments(registrations, { ...apply, tables, timeoutMs: REGISTER_TIMEOUT_MS })
  if (result.faults.length > 0) throw new CommandFault([...result.faults, 'Nothing was registered.'])
  const { created, replaced, unchanged, warnings } = result
  return [
    `Registered at ${apply.url}: ${created} created, ${replaced} replaced, ${unchanged} there already.`,
    ...(warnings.length === 0 ? [] : [`The service warns (${warnings.length}):`, ...warnings]),
  ]
}
