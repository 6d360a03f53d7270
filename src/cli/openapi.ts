/** `crosswalk openapi`: reads, checks as a registration would, and describes. */

import { existsSync } from 'node:fs'
import { createOfflineServices } from '../app/offline.ts'
import { isError } from '../core/lint.ts'
import type { Endpoint } from '../document/schema/schema.ts'
import { checkFiles } from '../endpoints/check-files.ts'
import { messageOrigin } from '../settings/message-origin.ts'
import { writeOpenApi } from '../try/openapi/openapi-document.ts'
import { examplesIn, type PublishedEndpoint } from '../try/openapi/published-operation.ts'
import { CommandFault, counted, jsonText, requireSettings, type Terminal, writeText } from './command.ts'
import type { Ending, Given } from './commands.ts'
import { formatLint, type LocatedLint, locateLints } from './project/located-lint.ts'
import { listFiles, readDocuments } from './project/project-documents.ts'
import { chooseTarget, demandDocuments, openProject, type Project, type ProjectTarget } from './project/project-file.ts'
import { findSuites, testsPathFor } from './test-suites.ts'

/** With faults, nothing is written. */
export async function run(given: Given<'openapi'>, terminal: Terminal): Promise<Ending<'openapi'>> {
  const settings = requireSettings(terminal)
  const { origin = messageOrigin(settings) } = given
  if (!/^https?:$/.test(URL.parse(origin)?.protocol ?? '')) {
    throw new CommandFault('--origin must be an http(s) URL.')
  }
  const { documents, project, target } = readGiven(given)
  const readable = documents.flatMap(({ document, ...file }) => (document === undefined ? [] : [{ ...file, document }]))
  const services = createOfflineServices(settings)
  const progress = terminal.progress('documents')
  const checks = await checkFiles(readable, { services, settings, progress })
  const unreadable = documents.filter(({ document }) => document === undefined)
  const faults = [
    ...unreadable.flatMap(({ file, lints, positions }) => locateLints(file, lints, positions)),
    ...readable.flatMap(({ file, positions }, index) => locateLints(file, checks[index]?.lints ?? [], positions)),
  ].filter(isError)
  const endpoints: PublishedEndpoint[] = readable.flatMap(({ path }, index) => {
    const stored = checks[index]?.stored
    const endpoint = stored as Endpoint | undefined
    if (endpoint?.endpoint.pattern === undefined) return []
    const tests = readTests(path, project, target)
    faults.push(...tests.faults)
    return [{ endpoint, examples: tests.examples }]
  })
  if (faults.length > 0) {
    for (const fault of faults) terminal.note(formatLint(fault))
    return 'findings'
  }
  const { title, apiVersion: version, output } = given
  const { bytes } = await writeOpenApi(endpoints, { title, version, origin }, settings)
  // For people: files are compared and reviewed.
  const text = jsonText(JSON.parse(Buffer.from(bytes).toString()))
  if (output === undefined) terminal.write(text)
  else writeText(output, text)
  terminal.note(counted(endpoints.length, 'endpoint'))
  return 'done'
}

function readGiven({ files: given, ...options }: Given<'openapi'>) {
  const project = openProject(given, options)
  demandDocuments(given, project)
  const target = chooseTarget(project, options.target)
  const documents = readDocuments({ project, target, ...(given.length === 0 ? {} : { files: listFiles(given) }) })
  if (documents.length === 0) throw new CommandFault('There are no documents to describe.')
  return { documents, project, target }
}

/** The tests beside a document. */
function readTests(
  path: string,
  project: Project | undefined,
  target: ProjectTarget | undefined,
): Readonly<{ examples: ReturnType<typeof examplesIn>; faults: readonly LocatedLint[] }> {
  if (!existsSync(testsPathFor(path))) return { examples: [], faults: [] }
  const { suites } = findSuites({ given: [path], project, target })
  const faults = suites.flatMap(({ lints }) => lints.filter(isError))
  return { examples: suites.flatMap(({ tests }) => examplesIn(tests)), faults }
}
