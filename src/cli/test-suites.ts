/** Finds the files of tests, each with the document that it tests, and reads them with the files that they name. */
import { existsSync, globSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { isObject, type Json } from '../core/json.ts'
import { collectInto, type Lint, type LintSink } from '../core/lint.ts'
import { didYouMean } from '../core/nearest.ts'
import { isFileReference } from '../document/file-references.ts'
import { checkTestFile } from '../try/tests/check-test-file.ts'
import type { TestFile } from '../try/tests/test-file.ts'
import { CommandFault, shownPath } from './command.ts'
import { type LocatedLint, locateLints } from './project/located-lint.ts'
import { readNamedFile } from './project/named-files.ts'
import {
  FOREIGN,
  findDocuments,
  listFiles,
  type ProjectDocument,
  readDocuments,
  readWritten,
} from './project/project-documents.ts'
import { type Project, type ProjectTarget, parseText } from './project/project-file.ts'

/** A file of tests with its document. */
export type Suite = Readonly<{
  /** Absolute. */
  path: string
  file: string
  tests: TestFile
  document: ProjectDocument | undefined
  /** Of the tests, and of the document before it is compiled. */
  lints: readonly LocatedLint[]
  /** Absolute paths of all files that were read. */
  files: readonly string[]
}>

export type SuitesOptions = Readonly<{
  /** As named on the command line. */
  given: readonly string[]
  project: Project | undefined
  target: ProjectTarget | undefined
}>

const TESTS = /\.tests\.json$/i

/** Of a document. */
export const testsPathFor = (document: string): string => document.replace(/\.json$/i, '.tests.json')
const documentPathFor = (tests: string): string => tests.replace(TESTS, '.json')

/** Out: the suites in the order of their files, and the absolute paths of the documents without tests. Throws CommandFault. */
export function findSuites({
  given,
  project,
  target,
}: SuitesOptions): Readonly<{ suites: readonly Suite[]; untested: readonly string[] }> {
  const found = given.length === 0 ? ofProject(project) : ofGiven(given)
  const documents = (files: readonly string[]) => readDocuments({ project, target, files })
  const suites = found.tests.map((path) => {
    const beside = documentPathFor(path)
    const [own] = existsSync(beside) ? documents([beside]) : []
    const others = () => documents([...new Set([...found.documents, ...jsonBeside(path)])])
    return createSuite(path, own, others, project)
  })
  const tested = new Set(suites.map(({ document }) => document?.path))
  return { suites, untested: found.documents.filter((path) => !tested.has(path)) }
}

type FoundFiles = Readonly<{ tests: readonly string[]; documents: readonly string[] }>

/** Without a project: all of the working folder. */
function ofProject(project: Project | undefined): FoundFiles {
  if (project === undefined) return ofGiven(['.'])
  const documents = findDocuments(project)
  const folders = [...new Set(documents.map((path) => dirname(path)))]
  return { tests: sorted(folders.flatMap((folder) => testsIn(folder, '*'))), documents }
}

function ofGiven(given: readonly string[]): FoundFiles {
  const files = listFiles(given)
  const named = given.filter((name) => !TESTS.test(name))
  const documents = files.filter((path) => !TESTS.test(path))
  const folders = named.filter((name) => statSync(name).isDirectory())
  const tests = given.flatMap((name) => {
    if (TESTS.test(name)) return [resolve(name)]
    if (folders.includes(name)) return testsIn(resolve(name), '**/*')
    const beside = testsPathFor(resolve(name))
    if (existsSync(beside)) return [beside]
    if (!isReadable(name)) return []
    throw new CommandFault(`The document ${name} has no tests; write them to ${shownPath(beside)}.`)
  })
  return { tests: sorted(tests), documents }
}

/** An unreadable document is a finding, with or without tests. */
const isReadable = (name: string): boolean => readWritten(resolve(name)).written !== undefined

const testsIn = (folder: string, pattern: string): readonly string[] =>
  globSync(`${pattern}.tests.json`, { cwd: folder })
    .filter((file) => !FOREIGN.test(file))
    .map((file) => join(folder, file))

const sorted = (paths: readonly string[]): readonly string[] => [...new Set(paths)].sort()

const jsonBeside = (tests: string): readonly string[] =>
  globSync('*.json', { cwd: dirname(tests) })
    .filter((file) => !/\.(?:tests|snapshots)\.json$/i.test(file))
    .map((file) => join(dirname(tests), file))

/** `others`: the documents that a file of tests may name by their endpoint. */
function createSuite(
  path: string,
  own: ProjectDocument | undefined,
  others: () => readonly ProjectDocument[],
  project: Project | undefined,
): Suite {
  const { written, lints: repeated, positions, file } = readWritten(path)
  const lints: Lint[] = [...repeated]
  const filled = fillFiles(written ?? { tests: [] }, path, project?.folder)
  const { file: tests, lints: wrong } = checkTestFile(filled.raw)
  lints.push(...filled.lints, ...(written === undefined ? [] : wrong))
  const document = own ?? namedDocument(tests.endpoint, path, others, lints)
  const located = locateLints(file, lints, positions)
  const ofDocument = document === undefined ? [] : locateLints(document.file, document.lints, document.positions)
  const files = [
    path,
    ...filled.files,
    ...(document === undefined ? [] : [document.path, ...document.textFiles.map((text) => text.path)]),
  ]
  return { path, file, tests, document, lints: [...located, ...ofDocument], files }
}

function namedDocument(
  endpoint: string | undefined,
  path: string,
  others: () => readonly ProjectDocument[],
  lints: Lint[],
): ProjectDocument | undefined {
  const lint = collectInto(lints)
  if (endpoint === undefined) {
    const beside = basename(documentPathFor(path))
    lint.error(`There is no document ${beside} beside the tests; name its endpoint in "endpoint".`)
    return undefined
  }
  const documents = others()
  const named = documents.find(({ name }) => name === endpoint)
  const names = documents.flatMap(({ name }) => (name === undefined ? [] : [name]))
  if (named === undefined)
    lint.at('endpoint').error(`No document has the name "${endpoint}"${didYouMean(endpoint, names)}`)
  return named
}

/** Tests with the contents of the files that they name: `{ "$file": "order.xml" }` in place of a body. */
export type FilledTests = Readonly<{
  raw: Json
  lints: readonly Lint[]
  /** Absolute paths of the files that were read. */
  files: readonly string[]
}>

/** The members that a file may replace. */
const BODIES = new Set(['body', 'state', 'mapped'])

/**
 * In: tests as they are in the file at `path`. Out: the same with contents in place of `$file`, and a lint for each that cannot be
 * used. The body of a message is the text of the file, any other one the value if the name ends in `.json`. `folder`: of the project.
 */
export function fillFiles(raw: Json, path: string, folder: string | undefined): FilledTests {
  const lints: Lint[] = []
  const files: string[] = []

  const readContent = (name: Json, asText: boolean, lint: LintSink): Json => {
    const reading = readNamedFile(name, path, folder, 'tests')
    if (!reading.ok) {
      lint.error(reading.message)
      return ''
    }
    const { text, path: file } = reading.value
    files.push(file)
    if (asText || !/\.json$/i.test(file)) return text
    const parsed = parseText(text)
    for (const { message } of parsed.lints) lint.error(`The file ${name} cannot be used: ${message}`)
    return parsed.raw ?? ''
  }

  const fill = (value: Json, within: string, lint: LintSink): Json => {
    if (Array.isArray(value)) return value.map((item: Json, index) => fill(item, within, lint.at(index)))
    if (!isObject(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => {
        const at = lint.at(name)
        if (!BODIES.has(name)) return [name, fill(member, name, at)]
        return [name, isFileReference(member) ? readContent(member.$file, within === 'message', at) : member]
      }),
    )
  }

  const filled = isObject(raw) && Array.isArray(raw.tests)
  const sink = collectInto(lints)
  return filled
    ? { raw: { ...raw, tests: fill(raw.tests as Json, '', sink.at('tests')) }, lints, files }
    : { raw, lints, files }
}
