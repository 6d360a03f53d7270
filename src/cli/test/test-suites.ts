/** Finds the files of tests, each with the document that it tests. */
import { existsSync, globSync, statSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { checkTestFile } from '../../document-tests/check-test-file.ts'
import type { TestFile } from '../../document-tests/test-file.ts'
import { collectInto, type Lint } from '../../domain/lint.ts'
import { didYouMean } from '../../domain/nearest.ts'
import { CommandImpossible } from '../command-process.ts'
import { type PlacedLint, placeLints, shownPath } from '../project/placed-lint.ts'
import {
  findDocuments,
  listFiles,
  type ProjectDocument,
  readDocuments,
  readWritten,
} from '../project/project-documents.ts'
import type { Project, ProjectTarget } from '../project/project-file.ts'
import { fillFiles } from './file-references.ts'

/** A file of tests with its document. */
export type Suite = Readonly<{
  /** Absolute. */
  path: string
  file: string
  tests: TestFile
  /** Undefined if there is none. */
  document: ProjectDocument | undefined
  /** Of the tests, and of the document before it is compiled. */
  lints: readonly PlacedLint[]
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
const FOREIGN = /(?:^|[\\/])(?:node_modules|\.[^\\/]+)(?:[\\/]|$)/

const testsOf = (document: string): string => document.replace(/\.json$/i, '.tests.json')
const documentOf = (tests: string): string => tests.replace(TESTS, '.json')

/** Out: the suites in the order of their files, and the absolute paths of the documents without tests. Throws CommandImpossible. */
export function findSuites({
  given,
  project,
  target,
}: SuitesOptions): Readonly<{ suites: readonly Suite[]; untested: readonly string[] }> {
  const found = given.length === 0 ? ofProject(project) : ofGiven(given)
  const documents = (files: readonly string[]) => readDocuments({ project, target, files })
  const suites = found.tests.map((path) => {
    const beside = documentOf(path)
    const [own] = existsSync(beside) ? documents([beside]) : []
    const others = () => documents([...new Set([...found.documents, ...jsonBeside(path)])])
    return suiteOf(path, own, others, project)
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
  const { files, faults } = listFiles(given)
  if (faults.length > 0) throw new CommandImpossible(...faults)
  const named = given.filter((name) => !TESTS.test(name))
  const documents = files.filter((path) => !TESTS.test(path))
  const folders = named.filter((name) => statSync(name).isDirectory())
  const tests = given.flatMap((name) => {
    if (TESTS.test(name)) return [resolve(name)]
    if (folders.includes(name)) return testsIn(resolve(name), '**/*')
    const beside = testsOf(resolve(name))
    if (existsSync(beside)) return [beside]
    if (!isReadable(name)) return []
    throw new CommandImpossible(`The document ${name} has no tests; write them to ${shownPath(beside)}.`)
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
function suiteOf(
  path: string,
  own: ProjectDocument | undefined,
  others: () => readonly ProjectDocument[],
  project: Project | undefined,
): Suite {
  const { written, lints: repeated, positions, file } = readWritten(path)
  const lints: Lint[] = [...repeated]
  const filled = fillFiles(written ?? { tests: [] }, path, rootOf(path, project))
  const { file: tests, lints: wrong } = checkTestFile(filled.raw)
  lints.push(...filled.lints, ...(written === undefined ? [] : wrong))
  const document = own ?? namedDocument(tests.endpoint, path, others, lints)
  const placed = placeLints(file, lints, positions)
  const ofDocument = document === undefined ? [] : placeLints(document.file, document.lints, document.positions)
  const files = [path, ...filled.files, ...(document === undefined ? [] : [document.path])]
  return { path, file, tests, document, lints: [...placed, ...ofDocument], files }
}

function namedDocument(
  endpoint: string | undefined,
  path: string,
  others: () => readonly ProjectDocument[],
  lints: Lint[],
): ProjectDocument | undefined {
  const lint = collectInto(lints)
  if (endpoint === undefined) {
    const beside = basename(documentOf(path))
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

/** The folder that `$file` must not leave. */
function rootOf(path: string, project: Project | undefined): string {
  const folders = [...(project === undefined ? [] : [project.folder]), process.cwd()]
  return folders.find((folder) => !relative(folder, path).startsWith('..')) ?? dirname(path)
}
