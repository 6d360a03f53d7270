/** `crosswalk.json`: which documents a folder has, and where they go; and which project a command works with. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { Failure } from '../../core/failure.ts'
import { readFault } from '../../core/files/files.ts'
import { isObject, type Json } from '../../core/json.ts'
import { collectInto, fault, found, isError, type Lint, type LintSink, type Result } from '../../core/lint.ts'
import { didYouMean } from '../../core/nearest.ts'
import { checkField } from '../../document/checks/check-field.ts'
import type { Field } from '../../document/schema/schema-fields.ts'
import { parseDocument } from '../../endpoints/parse-document.ts'
import { Unreadable } from '../../formats/body-faults.ts'
import { decodeText } from '../../formats/text.ts'
import { CommandFault, shownPath } from '../command.ts'
import { createJsonPositions, formatLint, type LocatedLint, locateLints } from './located-lint.ts'

export const PROJECT_FILE = 'crosswalk.json'

/** Of a value that differs from target to target. */
export const VALUE_NAME = '[A-Za-z_][A-Za-z0-9_]*'

export type ProjectTarget = Readonly<{
  name: string
  /** The origin of its service, with a path if it has one; without a slash at the end. */
  url: string
  values: Readonly<Record<string, string>>
}>

export type Project = Readonly<{
  /** Absolute. */
  folder: string
  /** Of the documents, relative to the folder; one that starts with `!` takes files out again. */
  endpoints: readonly string[]
  /** Added to each document. */
  labels: Readonly<Record<string, string>>
  targets: readonly ProjectTarget[]
}>

/** `project`: undefined with faults, and if there is no file. */
export type ProjectReading = Readonly<{ project: Project | undefined; faults: readonly LocatedLint[] }>

const TEXT: Field = { type: 'string' }
const TEXTS: Field = { type: 'object', additionalProperties: TEXT, namesInMessage: true }

export const PROJECT: Field = {
  type: 'object',
  properties: {
    $schema: { ...TEXT, description: 'The schema by which an editor checks the file.' },
    endpoints: {
      type: 'array',
      description: 'Patterns of the documents in this folder; one that starts with "!" leaves files out.',
      items: {
        type: 'string',
        pattern: '^!?(?!\\.\\.(?:/|$))(?!.*/\\.\\.(?:/|$))[^!/]',
        expects: 'a pattern of files in this folder',
      },
      default: ['endpoints/**/*.json'],
    },
    labels: { ...TEXTS, default: {}, description: 'Added to every document.' },
    targets: {
      type: 'object',
      description: 'The services to which the documents go, by name.',
      namesInMessage: true,
      default: {},
      additionalProperties: {
        type: 'object',
        properties: {
          url: { type: 'string', description: 'the URL of the service, such as "https://crosswalk.example".' },
          values: { ...TEXTS, default: {}, description: 'By name: what ${value:NAME} in documents stands for.' },
        },
        required: ['url'],
      },
    },
  },
}

/** The nearest `crosswalk.json`, from `folder` upwards. Both are absolute. */
export function findProject(folder: string): string | undefined {
  const file = join(folder, PROJECT_FILE)
  if (existsSync(file)) return file
  const parent = dirname(folder)
  return parent === folder ? undefined : findProject(parent)
}

/** In: the absolute path of the file. Out: the project, or every fault of the file. */
export function readProject(path: string): ProjectReading {
  const file = shownPath(path)
  const reading = readJsonText(path)
  if (!reading.ok) {
    const atStart = { file, line: 1, column: 1, path: '', severity: 'error' } as const
    return { project: undefined, faults: [{ ...atStart, message: reading.message }] }
  }
  const { raw, lints: repeated } = parseText(reading.value)
  const lints: Lint[] = [...repeated]
  const checked = raw === undefined ? undefined : checkProject(raw, collectInto(lints))
  const faults = locateLints(file, lints, createJsonPositions(reading.value))
  if (checked === undefined || lints.some(isError)) return { project: undefined, faults }
  return { project: { folder: dirname(path), ...checked }, faults }
}

/** The text of a file, decoded as the body of a request is; or the sentence why it cannot be read. */
export function readJsonText(path: string): Result<string> {
  try {
    return found(decodeText(readFileSync(path), undefined))
  } catch (thrown) {
    if (thrown instanceof Unreadable) return fault(`The file isn't text in UTF-8.`)
    return fault(readFault(shownPath(path), thrown))
  }
}

/** As the service parses a document that it is sent; `raw`: undefined if the text isn't JSON. */
export function parseText(text: string): Readonly<{ raw: Json | undefined; lints: readonly Lint[] }> {
  try {
    const { raw, faults } = parseDocument(text)
    return { raw, lints: faults }
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    return { raw: undefined, lints: [{ path: '', message: thrown.message, severity: 'error' }] }
  }
}

function checkProject(raw: Json, lint: LintSink): Omit<Project, 'folder'> | undefined {
  if (!isObject(raw)) return void lint.error('The file must be an object with "endpoints", "labels" and "targets".')
  // The schema above is that of the type; with faults the value is not used.
  const { endpoints, labels, targets } = checkField(PROJECT, raw, lint) as unknown as Pick<
    Project,
    'endpoints' | 'labels'
  > & { targets: Readonly<Record<string, Omit<ProjectTarget, 'name'>>> }
  const named = Object.entries(targets ?? {}).map(([name, target]) => {
    const sink = lint.at('targets', name)
    if (target.url !== undefined) checkUrl(target.url, sink.at('url'))
    const wrong = Object.keys(target.values ?? {}).filter((value) => !new RegExp(`^${VALUE_NAME}$`).test(value))
    for (const value of wrong) {
      sink.at('values', value).error('The name of a value has letters, digits and "_", and starts with no digit.')
    }
    return { name, url: String(target.url).replace(/\/+$/, ''), values: target.values }
  })
  return { endpoints, labels, targets: named }
}

function checkUrl(text: string, lint: LintSink): void {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    lint.error(`"${lint.path}" must be an http(s) URL.`)
    return
  }
  if (url.search !== '' || url.hash !== '') lint.error(`"${lint.path}" must have no query and no fragment.`)
  if (url.username !== '' || url.password !== '') {
    lint.error(`"${lint.path}" must have no credentials; the key comes from CROSSWALK_KEY or --key-file.`)
  }
}

/** Without a name: the only target, undefined if there are several or none. Throws CommandFault. */
export function chooseTarget(project: Project | undefined, name: string | undefined): ProjectTarget | undefined {
  const targets = project?.targets ?? []
  if (name === undefined) return targets.length === 1 ? targets[0] : undefined
  const target = targets.find((one) => one.name === name)
  if (target !== undefined) return target
  const names = targets.map((one) => one.name)
  const known = names.length === 0 ? `${PROJECT_FILE} has no targets` : `the targets are ${names.join(', ')}`
  throw new CommandFault(`There is no target ${JSON.stringify(name)}; ${known}${didYouMean(name, names)}`)
}

/** The absolute folder for new documents: that of the first pattern, up to its first wildcard. */
export function newDocumentFolder({ folder, endpoints }: Project): string {
  const pattern = endpoints.find((one) => !one.startsWith('!')) ?? ''
  return join(folder, dirname(`${pattern.split(/[*?[{(]/)[0]}x`))
}

/** What names a project on the command line. */
export type ProjectGiven = Readonly<{ project: string | undefined }>

/**
 * In: the files and folders that the command names. Out: the absolute path of the project's file.
 * Throws CommandFault if files belong to different projects, or there is no such project.
 */
export function locateProject(given: readonly string[], { project }: ProjectGiven): string | undefined {
  if (project !== undefined) return namedProject(project)
  const here = findProject(resolve(''))
  const found = given.map((name) => ({ name, file: findProject(toFolder(resolve(name))) ?? here }))
  const [first] = found
  if (first === undefined) return here
  const other = found.find(({ file }) => file !== first.file)
  if (other === undefined) return first.file
  const describeProject = ({ file }: typeof first) => (file === undefined ? 'no project' : shownPath(file))
  throw new CommandFault(
    `${first.name} belongs to ${describeProject(first)}, and ${other.name} to ${describeProject(other)}; name them in separate commands, or give --project.`,
  )
}

/** Throws CommandFault as locateProject does, and with every fault of the project's file. */
export function openProject(given: readonly string[], options: ProjectGiven): Project | undefined {
  const file = locateProject(given, options)
  if (file === undefined) return undefined
  const { project, faults } = readProject(file)
  if (project === undefined) throw new CommandFault(faults.map(formatLint))
  return project
}

/** For a command that needs documents: those that it names, or those of a project. */
export function demandDocuments(given: readonly string[], project: Project | undefined): void {
  if (given.length > 0 || project !== undefined) return
  throw new CommandFault(`There is no ${PROJECT_FILE} here or above; name files or folders, or give --project.`)
}

function namedProject(name: string): string {
  const path = resolve(name)
  const inFolder = isFolder(path)
  const file = inFolder ? join(path, PROJECT_FILE) : path
  if (existsSync(file)) return file
  const what = inFolder ? `${PROJECT_FILE} in ${name}` : `file or folder ${name}`
  throw new CommandFault(`--project is wrong: There is no ${what}.`)
}

const toFolder = (path: string): string => (isFolder(path) ? path : dirname(path))

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
