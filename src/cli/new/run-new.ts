/** What `crosswalk new` does: writes a document that lints clean, with a test, beside the others. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createLogger } from '../../adapters/log/logger.ts'
import { nameFiles } from '../../deployment/document-files.ts'
import { makeFolder, readFault, writeFault } from '../../domain/files/files.ts'
import type { JsonObject } from '../../domain/json.ts'
import type { Lint } from '../../domain/lint.ts'
import { checkFiles } from '../../endpoints/batch/check-files.ts'
import { Unreadable } from '../../formats/body-faults.ts'
import { codecOfFormat, MEDIA_TYPES } from '../../formats/codecs.ts'
import { decodeText } from '../../formats/text.ts'
import type { Settings } from '../../settings/settings.ts'
import { newDocument, type SampleMessage, SMALLEST, testOf, withoutFaults } from '../../suggestions/new-document.ts'
import { createOfflineDryRun } from '../../wiring/offline-dry-run.ts'
import { createOfflineServices } from '../../wiring/offline-services.ts'
import {
  CommandImpossible,
  type CommandProcess,
  EXIT,
  type ExitCode,
  type ProjectArguments,
  runCommand,
  settingsOf,
} from '../command-process.ts'
import { openProject } from '../open-project.ts'
import { shownPath } from '../project/placed-lint.ts'
import { readDocuments } from '../project/project-documents.ts'
import type { Project } from '../project/project-file.ts'

export type NewArguments = ProjectArguments & Readonly<{ sample?: string }>

/** Out: the exit code of the command. */
export function runNew(name: string, options: NewArguments, process: CommandProcess): Promise<ExitCode> {
  return runCommand(process, async () => {
    const settings = settingsOf(process.env)
    const { sample } = options
    const project = openProject([], options)
    const [slug = ''] = nameFiles([{ name, earlier: undefined }])
    const message = sample === undefined ? SMALLEST : readSample(sample, settings)
    const document = await soundDocument(newDocument(name, `/${slug}`, message), project, settings)
    const path = join(folderFor(project), slug)
    const files = { [`${path}.json`]: document, [`${path}.tests.json`]: await testsOf(document, message, settings) }
    refuseExisting(Object.keys(files))
    for (const [file, content] of Object.entries(files)) {
      write(file, `${JSON.stringify(content, null, 2)}\n`)
      process.stdout.write(`${shownPath(file)}\n`)
    }
    return EXIT.fine
  })
}

/** The tests of the document: it does with the sample what it does today. */
async function testsOf(document: JsonObject, { text, format }: SampleMessage, settings: Settings): Promise<JsonObject> {
  const dryRun = createOfflineDryRun(settings, createLogger({ ...settings, logLevel: 'error' }))
  const message = { body: text, contentType: MEDIA_TYPES[format] ?? '' }
  const { outcome, answer } = await dryRun(JSON.stringify({ endpoint: document, message }))
  const { status, body } = answer as Readonly<{ status: number; body: string }>
  return {
    tests: [
      testOf(message, outcome ?? null, status, codecOfFormat(format).read(Buffer.from(body), undefined, settings)),
    ],
  }
}

/** The part of the first pattern before anything that stands for several names. */
function folderFor(project: Project | undefined): string {
  if (project === undefined) return globalThis.process.cwd()
  const pattern = project.endpoints.find((one) => !one.startsWith('!')) ?? ''
  const fixed = dirname(`${pattern.split(/[*?[{(]/)[0]}x`)
  return join(project.folder, fixed)
}

function readSample(file: string, settings: Settings): SampleMessage {
  let bytes: Buffer
  try {
    bytes = readFileSync(file)
  } catch (thrown) {
    throw new CommandImpossible(readFault(file, thrown))
  }
  if (bytes.length > settings.parserLimitBytes) {
    throw new CommandImpossible(
      `${file} has ${bytes.length} bytes; PARSER_LIMIT is ${settings.parserLimitBytes}. Give a smaller sample.`,
    )
  }
  const format = /^(?:\ufeff)?\s*</.test(bytes.toString()) ? 'XML' : 'JSON'
  try {
    return { value: codecOfFormat(format).read(bytes, undefined, settings), format, text: decodeText(bytes, undefined) }
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown
    throw new CommandImpossible(`${file}: ${thrown.message}`)
  }
}

/** Throws CommandImpossible if the name or the route is taken. */
async function soundDocument(first: JsonObject, project: Project | undefined, settings: Settings): Promise<JsonObject> {
  const others = readDocuments({ project, target: project?.targets[0] })
  const known = others.flatMap(({ file, document }) => (document === undefined ? [] : [{ file, document }]))
  const lintsOf = async (document: JsonObject): Promise<readonly Lint[]> => {
    const checks = await checkFiles([...known, { file: 'new', document }], {
      services: createOfflineServices(settings),
      settings,
    })
    return checks.at(-1)?.lints ?? []
  }
  const { document, lints } = await withoutFaults(first, lintsOf)
  if (lints.length > 0) throw new CommandImpossible(...lints.map(({ path, message }) => `${path}: ${message}`))
  return document
}

function refuseExisting(paths: readonly string[]): void {
  const there = paths.filter((path) => existsSync(path))
  const faults = there.map((path) => `${shownPath(path)} is there already, and is not replaced.`)
  if (faults.length > 0) throw new CommandImpossible(...faults)
}

/** A file that came to be in between is not replaced either. */
function write(path: string, text: string): void {
  try {
    makeFolder(dirname(path))
    writeFileSync(path, text, { flag: 'wx' })
  } catch (thrown) {
    throw new CommandImpossible(writeFault(shownPath(path), thrown))
  }
}
