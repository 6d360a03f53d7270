/** `crosswalk new`: writes a document that lints clean, with a test, beside the others. */
import { existsSync, writeFileSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { createOfflineDryRun, createOfflineServices } from '../app/offline.ts'
import { makeFolder } from '../core/files/files.ts'
import type { JsonObject } from '../core/json.ts'
import type { Lint } from '../core/lint.ts'
import { checkFiles } from '../endpoints/check-files.ts'
import { Unreadable } from '../formats/body-faults.ts'
import { MEDIA_TYPES } from '../formats/codecs.ts'
import { createLogger } from '../observe/log/logger.ts'
import type { Settings } from '../settings/settings.ts'
import { TABLE_FORMATS } from '../tables/table-formats.ts'
import {
  createTest,
  newDocument,
  readSample,
  type SampleMessage,
  smallestMessage,
  withoutFaults,
} from '../try/suggestions/draft-endpoint.ts'
import { readBody } from '../try/tests/observed.ts'
import {
  CommandFault,
  jsonText,
  readBytes,
  requireSettings,
  sentenceAt,
  shownPath,
  type Terminal,
  writeText,
} from './command.ts'
import type { Ending, Given } from './commands.ts'
import { nameFiles } from './deployment/document-files.ts'
import { derive, filtersOf } from './new-from-examples.ts'
import { readDocuments } from './project/project-documents.ts'
import { newDocumentFolder, openProject, type Project } from './project/project-file.ts'
import { TABLES_FOLDER } from './project/project-tables.ts'

/** What a document is made from; without any, it is the smallest one. */
const SOURCES = ['sample', 'examples', 'openhim', 'fromMessages'] as const

export async function run(given: Given<'new'>, terminal: Terminal): Promise<Ending<'new'>> {
  const { name, sample } = given
  const filters = filtersOf(given)
  const sources = SOURCES.filter((source) => given[source] !== undefined && given[source].length > 0)
  if (filters.length > 0 && !sources.includes('fromMessages')) sources.push('fromMessages')
  else if (filters.length > 0) throw new CommandFault('Give ids with --from-messages, or filters.')
  if (sources.length > 1) {
    throw new CommandFault(
      'Give either --sample or --examples or --openhim or --from-messages, which filters may replace.',
    )
  }
  if (given.answer.length > 0 && (sources.length === 0 || sample !== undefined)) {
    throw new CommandFault(
      '--answer is for documents derived from pairs: give --examples, --openhim or --from-messages.',
    )
  }
  const settings = requireSettings(terminal)
  const project = openProject([], given)
  const [slug = ''] = nameFiles([{ name, earlier: undefined }])
  const path = join(project === undefined ? process.cwd() : newDocumentFolder(project), slug)
  const pattern = `/${slug}`
  const files: Record<string, string> = {}
  if (sources.length > 0 && sample === undefined) {
    const wanted = { name, pattern, keepCodes: project === undefined }
    const derived = await derive(given, wanted, settings, terminal)
    files[`${path}.json`] = jsonText(await soundDocument(derived.document, project, settings))
    files[`${path}.tests.json`] = jsonText(derived.tests)
    for (const { name: table, table: rows } of derived.tables.values()) {
      const file = join(project?.folder ?? '', TABLES_FOLDER, `${table}${TABLE_FORMATS.csv.fileEnding}`)
      files[file] = [...TABLE_FORMATS.csv.write(rows)].join('')
    }
    for (const line of derived.notes) terminal.note(line)
  } else {
    const message = sample === undefined ? smallestMessage(settings) : readSampleFile(sample, settings)
    const document = await soundDocument(newDocument(name, pattern, message), project, settings)
    files[`${path}.json`] = jsonText(document)
    files[`${path}.tests.json`] = jsonText(await createTests(document, message, settings))
  }
  refuseExisting(Object.keys(files))
  for (const [file, content] of Object.entries(files)) {
    writeText(file, content, writeNew)
    terminal.print(shownPath(file))
  }
  return 'done'
}

/** The tests of the document: it does with the sample what it does today. */
async function createTests(
  document: JsonObject,
  { text, format }: SampleMessage,
  settings: Settings,
): Promise<JsonObject> {
  const dryRun = createOfflineDryRun(settings, createLogger({ ...settings, logLevel: 'error' }))
  const message = { body: text, contentType: MEDIA_TYPES[format] ?? '' }
  const { outcome, answer } = await dryRun(JSON.stringify({ endpoint: document, message }))
  const { status, body } = answer as Readonly<{ status: number; body: string }>
  return {
    tests: [createTest(message, outcome ?? null, status, readBody(body, MEDIA_TYPES[format]).value)],
  }
}

function readSampleFile(file: string, settings: Settings): SampleMessage {
  const bytes = readBytes(file)
  if (bytes.length > settings.parserLimitBytes) {
    throw new CommandFault(
      `${file} has ${bytes.length} bytes; PARSER_LIMIT is ${settings.parserLimitBytes}. Give a smaller sample.`,
    )
  }
  try {
    return readSample(bytes, settings, undefined, extname(file))
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown
    throw new CommandFault(`${file}: ${thrown.message}`)
  }
}

/** Throws CommandFault if the name or the route is taken. */
async function soundDocument(first: JsonObject, project: Project | undefined, settings: Settings): Promise<JsonObject> {
  const others = readDocuments({ project, target: project?.targets[0] })
  const known = others.flatMap(({ file, document }) => (document === undefined ? [] : [{ file, document }]))
  const lintDocument = async (document: JsonObject): Promise<readonly Lint[]> => {
    const checks = await checkFiles([...known, { file: 'new', document }], {
      services: createOfflineServices(settings),
      settings,
    })
    return checks.at(-1)?.lints ?? []
  }
  const { document, lints } = await withoutFaults(first, lintDocument)
  if (lints.length > 0) throw new CommandFault(lints.map(({ path, message }) => sentenceAt(path, message)))
  return document
}

function refuseExisting(paths: readonly string[]): void {
  const there = paths.filter((path) => existsSync(path))
  const faults = there.map((path) => `${shownPath(path)} already exists and is not replaced.`)
  if (faults.length > 0) throw new CommandFault(faults)
}

/** A file that appeared in between is not replaced either. */
function writeNew(path: string, text: string): void {
  makeFolder(dirname(path))
  writeFileSync(path, text, { flag: 'wx' })
}
