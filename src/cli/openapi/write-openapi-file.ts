/** What `crosswalk openapi` does: reads, checks as a registration would, and describes. */
import { existsSync, writeFileSync } from 'node:fs'
import type { Endpoint } from '../../config/schema/schema.ts'
import { writeFault } from '../../domain/files/files.ts'
import { checkFiles } from '../../endpoints/batch/check-files.ts'
import { writeOpenApi } from '../../published-api/openapi-document.ts'
import { examplesIn } from '../../published-api/published-examples.ts'
import type { PublishedEndpoint } from '../../published-api/published-operation.ts'
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
import { demandDocuments, openProject } from '../open-project.ts'
import { progressOf } from '../progress.ts'
import { lineOf, type PlacedLint, placeLints } from '../project/placed-lint.ts'
import { listFiles, type ProjectDocument, readDocuments } from '../project/project-documents.ts'
import { chooseTarget, type Project } from '../project/project-file.ts'
import { findSuites } from '../test/test-suites.ts'

export type OpenApiOptions = ProjectArguments &
  Readonly<{
    output?: string
    target?: string
    title: string
    apiVersion: string
    origin?: string
  }>

/** Out: the exit code of the command. With faults, nothing is written. */
export function writeOpenApiFile(
  given: readonly string[],
  options: OpenApiOptions,
  process: CommandProcess,
): Promise<ExitCode> {
  return runCommand(process, async () => {
    const settings = settingsOf(process.env)
    const { origin = settings.publicUrl ?? `http://localhost:${settings.serverPort}` } = options
    if (!/^https?:$/.test(URL.parse(origin)?.protocol ?? '')) {
      throw new CommandImpossible('--origin must be an http(s) URL.')
    }
    const { documents, project, target } = readGiven(given, options)
    const readable = documents.flatMap(({ document, ...file }) =>
      document === undefined ? [] : [{ ...file, document }],
    )
    const services = createOfflineServices(settings)
    const progress = progressOf('documents', process.stderr)
    const checks = await checkFiles(readable, { services, settings, progress })
    const unreadable = documents.filter(({ document }) => document === undefined)
    const faults = [
      ...unreadable.flatMap(({ file, lints, positions }) => placeLints(file, lints, positions)),
      ...readable.flatMap(({ file, positions }, index) => placeLints(file, checks[index]?.lints ?? [], positions)),
    ].filter(({ severity }) => severity === 'error')
    const endpoints: PublishedEndpoint[] = readable.flatMap(({ path }, index) => {
      const stored = checks[index]?.stored
      if (stored === undefined) return []
      const tests = readTests(path, project, target)
      faults.push(...tests.faults)
      return [{ endpoint: stored as unknown as Endpoint, examples: tests.examples }]
    })
    if (faults.length > 0) {
      for (const fault of faults) process.stderr.write(`${lineOf(fault)}\n`)
      return EXIT.findings
    }
    const { title, apiVersion: version } = options
    const { bytes } = await writeOpenApi(endpoints, { title, version, origin }, settings)
    // For people: files are compared and reviewed.
    const text = `${JSON.stringify(JSON.parse(Buffer.from(bytes).toString()), null, 2)}\n`
    if (options.output === undefined) process.stdout.write(text)
    else write(options.output, text)
    process.stderr.write(`${endpoints.length} ${endpoints.length === 1 ? 'endpoint' : 'endpoints'}\n`)
    return EXIT.fine
  })
}

type Given = Readonly<{
  documents: readonly ProjectDocument[]
  project: Project | undefined
  target: Parameters<typeof readDocuments>[0]['target']
}>

function readGiven(given: readonly string[], options: OpenApiOptions): Given {
  const project = openProject(given, options)
  demandDocuments(given, project)
  const chosen = chooseTarget(project, options.target)
  if (!chosen.ok) throw new CommandImpossible(chosen.message)
  const named = listFiles(given)
  if (named.faults.length > 0) throw new CommandImpossible(...named.faults)
  const files = given.length === 0 ? {} : { files: named.files }
  const documents = readDocuments({ project, target: chosen.value, ...files })
  if (documents.length === 0) throw new CommandImpossible('There are no documents to describe.')
  return { documents, project, target: chosen.value }
}

/** The tests beside a document. */
function readTests(
  path: string,
  project: Project | undefined,
  target: Given['target'],
): Readonly<{ examples: ReturnType<typeof examplesIn>; faults: readonly PlacedLint[] }> {
  if (!existsSync(path.replace(/\.json$/i, '.tests.json'))) return { examples: [], faults: [] }
  const { suites } = findSuites({ given: [path], project, target })
  const faults = suites.flatMap(({ lints }) => lints.filter(({ severity }) => severity === 'error'))
  return { examples: suites.flatMap(({ tests }) => examplesIn(tests)), faults }
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text)
  } catch (thrown) {
    throw new CommandImpossible(writeFault(file, thrown))
  }
}
