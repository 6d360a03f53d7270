/** What `crosswalk pull` does: writes the documents of a service into the files of a project. */
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, matchesGlob, relative } from 'node:path'
import { createCredentialNames } from '../../deployment/credential-names.ts'
import { changesTo, hasLabels } from '../../deployment/deployment-plan.ts'
import { nameFiles } from '../../deployment/document-files.ts'
import { matchEndpoints } from '../../deployment/match-endpoints.ts'
import { pulledDocument } from '../../deployment/pulled-document.ts'
import { placeText } from '../../document-diff/document-places.ts'
import { makeFolder, writeFault } from '../../domain/files/files.ts'
import { isObject, type JsonObject } from '../../domain/json.ts'
import { CommandImpossible, EXIT, type ExitCode } from '../command-process.ts'
import { shownPath } from '../project/placed-lint.ts'
import type { Project } from '../project/project-file.ts'
import { escapeValues } from '../project/target-values.ts'
import { printable } from '../terminal-text.ts'
import { openTarget, type ProjectDesire, readDesired, readStored, type TargetArguments } from './open-target.ts'
import { type AskingProcess, runServiceCommand } from './service-command.ts'

export type PullArguments = TargetArguments & Readonly<{ all?: true; json?: true }>

/** Credentials of the service that were replaced by references. */
type FoundCredential = Readonly<{ file: string; path: string; reference: string }>

/** Out: the exit code; 1 if a credential was found. */
export const runPull = (given: PullArguments, process: AskingProcess): Promise<ExitCode> =>
  runServiceCommand(process, async () => {
    const open = openTarget(given, { role: 'viewer', unanswered: '' }, process.env)
    const { labels } = open.project
    const documents = readDesired(open)
    const { stored, hadName } = await readStored(open.client)
    const byName = new Map(stored.map((document) => [String(document.name), document]))
    const { endpoints, faults } = await matchEndpoints(documents, byName, hadName)
    if (faults.length > 0) throw new CommandImpossible(...faults)
    const files = new Map([...endpoints].map(([document, endpoint]) => [endpoint, document]))
    const wanted = stored.filter((document) => given.all || files.has(document) || hasLabels(document, labels))
    const paths = placeFiles(wanted, files, open.project)

    const credentials: FoundCredential[] = []
    const names = createCredentialNames()
    const written: string[] = []
    let unchanged = 0
    for (const endpoint of wanted) {
      const file = files.get(endpoint)
      if (file !== undefined && changesTo(endpoint, file.document).length === 0) {
        unchanged++
        continue
      }
      const path = paths.get(endpoint) as string
      const document = pulledDocument(endpoint, filesOf(file), {
        labels,
        refer: (value, place) => {
          const parts = place.map((segment) => (typeof segment === 'object' ? segment.id : String(segment)))
          const reference = names.refer(value, String(endpoint.name), ...parts.slice(-2))
          credentials.push({ file: shownPath(path), path: placeText(place), reference })
          return reference
        },
        escapeText: escapeValues,
      })
      write(path, `${JSON.stringify(document, null, 2)}\n`)
      written.push(shownPath(path))
    }
    const without = documents.filter((document) => !endpoints.has(document)).map(({ file }) => file)
    report({ written, unchanged, without, credentials }, given.json === true, process)
    return credentials.length > 0 ? EXIT.findings : EXIT.fine
  })

function filesOf(file: ProjectDesire | undefined) {
  const { written } = file?.source ?? {}
  return file === undefined || !isObject(written) ? undefined : { written, filled: file.document }
}

/** A file for each endpoint: the one that it has, or a new one with a name like its own. */
function placeFiles(
  wanted: readonly JsonObject[],
  files: ReadonlyMap<JsonObject, ProjectDesire>,
  project: Project,
): ReadonlyMap<JsonObject, string> {
  const folder = join(project.folder, folderOfNew(project))
  const names = nameFiles(
    wanted.map((document) => {
      const path = files.get(document)?.source.path
      return { name: String(document.name), earlier: path === undefined ? undefined : basename(path, '.json') }
    }),
  )
  return new Map(
    wanted.map((document, index) => {
      const known = files.get(document)?.source.path
      if (known !== undefined) return [document, known]
      const path = join(folder, `${names[index]}.json`)
      refuseWrongPlace(path, project)
      return [document, path]
    }),
  )
}

/** The folder of the first pattern, up to its first wildcard. */
function folderOfNew({ endpoints }: Project): string {
  const [pattern = ''] = endpoints.filter((one) => !one.startsWith('!'))
  const parts = pattern.split('/')
  const wild = parts.findIndex((part) => /[*?[\]{}!()]/.test(part))
  return parts.slice(0, wild === -1 ? -1 : wild).join('/')
}

function refuseWrongPlace(path: string, { folder, endpoints }: Project): void {
  const name = relative(folder, path)
  if (existsSync(path)) {
    throw new CommandImpossible(
      `${shownPath(path)} is there already and is no document of the project; move it. Nothing was written.`,
    )
  }
  const matches = (pattern: string) => matchesGlob(name, pattern)
  const isOwn = endpoints.some((pattern) => !pattern.startsWith('!') && matches(pattern))
  if (isOwn && !endpoints.some((pattern) => pattern.startsWith('!') && matches(pattern.slice(1)))) return
  throw new CommandImpossible(
    `A new document would be ${name}, which no pattern of "endpoints" matches; add one. Nothing was written.`,
  )
}

/** Whole or not at all. */
function write(path: string, text: string): void {
  const part = `${path}.part`
  try {
    makeFolder(dirname(path))
    writeFileSync(part, text)
    renameSync(part, path)
  } catch (thrown) {
    throw new CommandImpossible(writeFault(shownPath(path), thrown))
  } finally {
    rmSync(part, { force: true })
  }
}

type PullReport = Readonly<{
  written: readonly string[]
  unchanged: number
  /** Files whose endpoints the service does not have. */
  without: readonly string[]
  credentials: readonly FoundCredential[]
}>

function report(
  { written, unchanged, without, credentials }: PullReport,
  asJson: boolean,
  process: AskingProcess,
): void {
  const { stdout, stderr } = process
  if (asJson) stdout.write(`${JSON.stringify({ written, unchanged, notAtService: without, credentials }, null, 2)}\n`)
  else {
    for (const file of written) stdout.write(`${printable(file)}\n`)
    stdout.write(`${written.length} written, ${unchanged} unchanged.\n`)
  }
  for (const file of without) stderr.write(`${printable(file)}: The service has no such endpoint; the file stays.\n`)
  for (const { file, path, reference } of credentials) {
    stderr.write(
      `${printable(`${file}: ${path}: The service holds a credential here; the file has ${reference} instead. Set it where the service runs, then apply.`)}\n`,
    )
  }
}
