/** `crosswalk pull`: writes the documents of a service into the files of a project. */
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, matchesGlob, relative, resolve } from 'node:path'
import { makeFolder } from '../core/files/files.ts'
import { isObject, type JsonObject } from '../core/json.ts'
import { formatLocation } from '../document/diff/document-locations.ts'
import { TABLE_FORMATS, writeTable } from '../tables/table-formats.ts'
import { CommandFault, jsonText, shownPath, type Terminal, writeText } from './command.ts'
import type { Ending, Given } from './commands.ts'
import { createCredentialNames } from './deployment/credential-names.ts'
import { nameFiles } from './deployment/document-files.ts'
import { changesTo, hasLabels, matchEndpoints } from './deployment/plan.ts'
import { pulledDocument } from './deployment/pulled-document.ts'
import { type OpenTarget, openTarget, type ProjectDesire, readDesired, readStored } from './deployment/service.ts'
import {
  changesToTable,
  fetchTable,
  listServiceTables,
  readsTables,
  type ServiceTable,
} from './deployment/table-plan.ts'
import { escapeValues, withoutLastLineEnd } from './project/project-documents.ts'
import { newDocumentFolder, type Project } from './project/project-file.ts'
import { demandTables, type ProjectTable, TABLES_FOLDER } from './project/project-tables.ts'

/** Credentials of the service that were replaced by references. */
type FoundCredential = Readonly<{ file: string; path: string; reference: string }>

export async function run(given: Given<'pull'>, terminal: Terminal): Promise<Ending<'pull'>> {
  const open = openTarget(given, { role: 'viewer' }, terminal.env)
  const { labels } = open.project
  const tables = await demandTables(open.project)
  const documents = readDesired(open)
  const { stored, hadName } = await readStored(open.client)
  const byName = new Map(stored.map((document) => [String(document.name), document]))
  const { endpoints } = await matchEndpoints(documents, byName, hadName)
  const files = new Map([...endpoints].map(([document, endpoint]) => [endpoint, document]))
  const wanted = stored.filter((document) => given.all || files.has(document) || hasLabels(document, labels))
  const paths = assignFiles(wanted, files, open.project)

  const credentials: FoundCredential[] = []
  const names = createCredentialNames()
  const written: string[] = []
  const write = (path: string, text: string): void => {
    writeText(path, text, replaceFile)
    written.push(shownPath(path))
  }
  const named = documents.flatMap(({ source }) => source.textFiles.map((file) => file.path))
  let unchanged = 0
  for (const endpoint of wanted) {
    const file = files.get(endpoint)
    if (file !== undefined && changesTo(endpoint, file.document).length === 0) {
      unchanged++
      continue
    }
    const path = paths.get(endpoint) as string
    const document = pulledDocument(endpoint, toPulledFile(file), {
      labels,
      refer: (value, location) => {
        const parts = location.map((segment) => (typeof segment === 'object' ? segment.id : String(segment)))
        const reference = names.refer(value, String(endpoint.name), ...parts.slice(-2))
        credentials.push({ file: shownPath(path), path: formatLocation(location), reference })
        return reference
      },
      escapeText: escapeValues,
      writeText: (name, text) => {
        const target = resolve(dirname(path), String(name))
        const content = `${text}\n`
        // A file that two texts share has what the other one says, and not each text can be the content of a file.
        const isOwn = named.filter((one) => one === target).length === 1 && withoutLastLineEnd(content) === text
        if (isOwn) write(target, content)
        return isOwn
      },
    })
    write(path, jsonText(document))
  }
  const without = documents.filter((document) => !endpoints.has(document)).map(({ file }) => file)
  const wantedTables = new Set([...tables.map(({ name }) => name), ...wanted.flatMap(readsTables)])
  const served = given.all || wantedTables.size > 0 ? await listServiceTables(open.client, wantedTables.size > 0) : []
  for (const one of served.filter(({ name }) => given.all || wantedTables.has(name))) {
    if (!(await pullTable(open, one, tables, write))) unchanged++
  }
  const missing = tables.filter(({ name }) => !served.some((one) => one.name === name)).map(({ file }) => file)
  report({ written, unchanged, without, missing, credentials }, given.json, terminal)
  return credentials.length > 0 ? 'findings' : 'done'
}

function toPulledFile(file: ProjectDesire | undefined) {
  const { written } = file?.source ?? {}
  return file === undefined || !isObject(written) ? undefined : { written, filled: file.document }
}

/** A file for each endpoint: the one that it has, or a new one with a name like its own. */
function assignFiles(
  wanted: readonly JsonObject[],
  files: ReadonlyMap<JsonObject, ProjectDesire>,
  project: Project,
): ReadonlyMap<JsonObject, string> {
  const folder = newDocumentFolder(project)
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
      refuseWrongLocation(path, project)
      return [document, path]
    }),
  )
}

function refuseWrongLocation(path: string, { folder, endpoints }: Project): void {
  const name = relative(folder, path)
  if (existsSync(path)) {
    throw new CommandFault(
      `${shownPath(path)} already exists and isn't a document of the project; move it. Nothing was written.`,
    )
  }
  const matches = (pattern: string) => matchesGlob(name, pattern)
  const isOwn = endpoints.some((pattern) => !pattern.startsWith('!') && matches(pattern))
  if (isOwn && !endpoints.some((pattern) => pattern.startsWith('!') && matches(pattern.slice(1)))) return
  throw new CommandFault(
    `A new document would be ${name}, which no pattern of "endpoints" matches; add one. Nothing was written.`,
  )
}

/** Out: whether the file differed and was written. A new file is CSV. */
async function pullTable(
  { client, project }: OpenTarget,
  stored: ServiceTable,
  tables: readonly ProjectTable[],
  write: (path: string, text: string) => void,
): Promise<boolean> {
  const { name } = stored
  const own = tables.find((one) => one.name === name)
  const { format, path } = own ?? {
    format: TABLE_FORMATS.csv,
    path: join(project.folder, TABLES_FOLDER, `${name}${TABLE_FORMATS.csv.fileEnding}`),
  }
  const table = await fetchTable(client, stored, format)
  if (own !== undefined && (await changesToTable(table, own)) === undefined) return false
  write(path, (await Array.fromAsync(writeTable(format, table, name))).join(''))
  return true
}

/** Whole or not at all. */
function replaceFile(path: string, text: string): void {
  const part = `${path}.part`
  try {
    makeFolder(dirname(path))
    writeFileSync(part, text)
    renameSync(part, path)
  } finally {
    rmSync(part, { force: true })
  }
}

type PullReport = Readonly<{
  written: readonly string[]
  unchanged: number
  /** Files whose endpoints the service does not have. */
  without: readonly string[]
  /** The same of tables. */
  missing: readonly string[]
  credentials: readonly FoundCredential[]
}>

function report(
  { written, unchanged, without, missing, credentials }: PullReport,
  asJson: boolean,
  terminal: Terminal,
): void {
  if (asJson) terminal.writeJson({ written, unchanged, notAtService: [...without, ...missing], credentials })
  else {
    for (const file of written) terminal.print(file)
    terminal.print(`${written.length} written, ${unchanged} unchanged.`)
  }
  for (const file of without) terminal.note(`${file}: The service has no such endpoint; the file stays.`)
  for (const file of missing) terminal.note(`${file}: The service has no such table; the file stays.`)
  for (const { file, path, reference } of credentials) {
    terminal.note(
      `${file}: ${path}: The service holds a credential here; the file has ${reference} instead. Set it where the service runs, then apply.`,
    )
  }
}
