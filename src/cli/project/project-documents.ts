/** The endpoint documents of files, as a service would get them: values filled in, labels of the project added. */
import { globSync, type Stats, statSync } from 'node:fs'
import { basename, matchesGlob, posix, relative, resolve } from 'node:path'
import { readFault } from '../../core/files/files.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { collectInto, type Lint, type LintSink } from '../../core/lint.ts'
import { didYouMean } from '../../core/nearest.ts'
import { NO_TEXT, replaceFileReferences } from '../../document/file-references.ts'
import { CommandFault, shownPath } from '../command.ts'
import { MANIFEST_FILE, manifestBeside } from '../deployment/document-files.ts'
import { createJsonPositions, type JsonPositions, type TextFile, withTextFiles } from './located-lint.ts'
import { readNamedFile } from './named-files.ts'
import { PROJECT_FILE, type Project, type ProjectTarget, parseText, readJsonText, VALUE_NAME } from './project-file.ts'

/** A JSON file as it is written. */
export type WrittenFile = Readonly<{
  /** Absolute. */
  path: string
  /** As shown to people. */
  file: string
  /** As it is in the file; undefined if that isn't JSON. */
  written: Json | undefined
  lints: readonly Lint[]
  positions: JsonPositions
}>

/** A file with a document, before a target is chosen. */
export type FileDocument = WrittenFile &
  Readonly<{
    /** The document with the texts of the files that it names. */
    whole: Json | undefined
    /** These files, one for each reference. */
    textFiles: readonly NamedText[]
  }>

/** `path`: absolute. */
type NamedText = TextFile & Readonly<{ path: string }>

/** A document as sent to a target. */
export type ProjectDocument = FileDocument &
  Readonly<{
    /** A file that isn't JSON has none. With errors among the lints, it must not be sent. */
    document: Json | undefined
    /** Its identity within the project; undefined if it has none that could be one. */
    name: string | undefined
    /** The name that its endpoint had before. It is not part of `document`. */
    renamedFrom: string | undefined
  }>

/** Files beside documents that aren't documents. */
const OTHER_FILES = /\.(?:tests|snapshots)\.json$/i
/** Of a folder that holds other people's files. */
export const FOREIGN = /(?:^|[\\/])(?:node_modules|\.[^\\/]+)(?:[\\/]|$)/

/** Out: the absolute paths of the project's documents, in order. */
export function findDocuments({ folder, endpoints }: Project): readonly string[] {
  const without = endpoints.flatMap((pattern) => {
    if (!pattern.startsWith('!')) return []
    const left = posix.normalize(pattern.slice(1)).replace(/\/$/, '')
    // A folder is left out with everything in it.
    return [left, `${left}/**`]
  })
  return globSync(
    endpoints.filter((pattern) => !pattern.startsWith('!')),
    { cwd: folder },
  )
    .filter((file) => !without.some((pattern) => matchesGlob(file, pattern)))
    .map((file) => resolve(folder, file))
    .filter((path, index, all) => all.indexOf(path) === index && isOwnFile(path, folder))
    .sort()
}

/**
 * In: files and folders that were named. Out: the absolute paths of their documents; of a folder, all JSON files that may be
 * documents, in order. Throws CommandFault with each that is not there.
 */
export function listFiles(given: readonly string[]): readonly string[] {
  const faults: string[] = []
  const files = given.flatMap((name) => {
    const path = resolve(name)
    try {
      if (!statSync(path).isDirectory()) return [path]
    } catch (thrown) {
      faults.push(readFault(name, thrown))
      return []
    }
    return findDocuments({ folder: path, endpoints: ['**/*.json'], labels: {}, targets: [] }).filter(mayBeDocument)
  })
  if (faults.length > 0) throw new CommandFault(faults)
  return [...new Set(files)]
}

function isOwnFile(path: string, folder: string): boolean {
  const name = basename(path)
  if (OTHER_FILES.test(name) || [PROJECT_FILE, MANIFEST_FILE].includes(name)) return false
  if (FOREIGN.test(relative(folder, path))) return false
  const kind = manifestBeside(path).get(name)?.kind
  return (kind === undefined || kind === 'document') && tryStat(path)?.isFile() === true
}

/** The path may lead nowhere, in a circle, or into a folder that may not be read. */
function tryStat(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}

/** A folder that no project describes has other JSON too: messages, schemas, packages. */
function mayBeDocument(path: string): boolean {
  const text = readJsonText(path)
  const { raw } = text.ok ? parseText(text.value) : {}
  return raw === undefined || (isObject(raw) && isObject(raw.endpoint))
}

/** Never throws: a file that cannot be read is a document with a lint. */
export function readWritten(path: string): WrittenFile {
  const file = shownPath(path)
  const text = readJsonText(path)
  const positions = createJsonPositions(text.ok ? text.value : '{}')
  if (!text.ok) {
    const lints = [{ path: '', message: text.message, severity: 'error' } as const]
    return { path, file, written: undefined, lints, positions }
  }
  const { raw, lints } = parseText(text.value)
  return { path, file, written: raw, lints, positions }
}

/** As readWritten; a file of a text that cannot be read is a lint too. `project`: undefined for files outside of one. */
export function readDocument(path: string, project: Project | undefined): FileDocument {
  const file = readWritten(path)
  const lints = [...file.lints]
  const textFiles: NamedText[] = []
  const read = (name: Json, lint: LintSink): string => {
    const reading = readNamedFile(name, path, project?.folder, 'document')
    if (!reading.ok) {
      lint.error(reading.message)
      return NO_TEXT
    }
    const text = withoutLastLineEnd(reading.value.text)
    textFiles.push({ place: lint.path, name: String(name), path: reading.value.path, text })
    return text
  }
  const { written } = file
  const whole = written === undefined ? undefined : replaceFileReferences(written, read, collectInto(lints))
  return { ...file, whole, lints, textFiles }
}

/** Editors end each file with a line end, which is no part of an expression. */
export const withoutLastLineEnd = (text: string): string => text.replace(/\r?\n$/, '')

/** `project`: undefined for files outside of one; `target`: undefined if none was chosen. */
export function fillDocument(
  { whole, lints, ...file }: FileDocument,
  project: Project | undefined,
  target: ProjectTarget | undefined,
): ProjectDocument {
  const all = [...lints]
  const lint = collectInto(all)
  const values = createTargetValues(project, target)
  // Faults count the characters of the text that was compiled.
  const texts = file.textFiles.map((one) => ({ ...one, text: fillText(one.text, values, collectInto([])) }))
  const positions = withTextFiles(file.positions, texts)
  const none = { ...file, positions, whole, lints: all, name: undefined, renamedFrom: undefined }
  if (whole === undefined) return { ...none, document: undefined }
  const filled = fillValues(whole, values, lint)
  if (!isObject(filled)) return { ...none, document: filled }
  const { $schema: _ofEditor, renamedFrom, ...document } = filled
  checkRename(renamedFrom, document.name, lint.at('renamedFrom'))
  return {
    ...none,
    document: withLabels(document, project?.labels ?? {}, lint),
    name: typeof document.name === 'string' && document.name !== '' ? document.name : undefined,
    renamedFrom: typeof renamedFrom === 'string' ? renamedFrom : undefined,
  }
}

export type DocumentsOptions = Readonly<{
  project: Project | undefined
  target: ProjectTarget | undefined
  /** Instead of those of the project: absolute paths. */
  files?: readonly string[]
}>

/** Out: the documents, in the order of their files, each with the lints that are found before it is compiled. */
export function readDocuments({ project, target, files }: DocumentsOptions): readonly ProjectDocument[] {
  const paths = files ?? (project === undefined ? [] : findDocuments(project))
  return paths.map((path) => fillDocument(readDocument(path, project), project, target))
}

function createTargetValues(project: Project | undefined, target: ProjectTarget | undefined): TargetValues {
  if (target === undefined) {
    const missing = (name: string) =>
      (project?.targets.length ?? 0) > 0
        ? `"${name}" is a value of the target; choose one with --target.`
        : `Nothing gives the value "${name}"; give it to a target in ${PROJECT_FILE}, under "targets".`
    return { values: {}, missing }
  }
  const { name: targetName, values } = target
  const missing = (name: string) =>
    `The target "${targetName}" has no value "${name}"; give it one in ${PROJECT_FILE}${didYouMean(name, Object.keys(values))}`
  return { values, missing }
}

function checkRename(renamedFrom: Json | undefined, name: Json | undefined, lint: LintSink): void {
  if (renamedFrom === undefined) return
  if (typeof renamedFrom !== 'string' || renamedFrom === '') {
    lint.error('"renamedFrom" must be the name that the endpoint had before.')
  } else if (renamedFrom === name) lint.error('"renamedFrom" is the name that the document has; leave it out.')
}

/** A document with another value would not be found by the labels of its project. */
function withLabels(document: JsonObject, labels: Project['labels'], lint: LintSink): JsonObject {
  const own = document.labels ?? {}
  if (!isObject(own) || Object.keys(labels).length === 0) return document
  for (const [name, value] of Object.entries(labels)) {
    if (own[name] !== undefined && own[name] !== value) {
      lint
        .at('labels', name)
        .error(`${PROJECT_FILE} gives this label to every document, as ${JSON.stringify(value)}; leave it out here.`)
    }
  }
  return { ...document, labels: { ...own, ...labels } }
}

/** `$${value:NAME}` escapes a reference: it is the text `${value:NAME}`. */
const REFERENCE = new RegExp(`(\\$?)\\$\\{value:(${VALUE_NAME})\\}`, 'g')
const ALMOST = /\$\{\s*value\s*:/i

/** `missing`: the sentence for a value that there is none for. */
export type TargetValues = Readonly<{ values: Readonly<Record<string, string>>; missing(name: string): string }>
/**
 * Fills in the values. Out: the document without references; one without a value stays unchanged.
 * Lints: each reference without a value, each that is misspelt, each in a name of a member.
 */
export function fillValues(document: Json, target: TargetValues, lint: LintSink): Json {
  if (typeof document === 'string') return fillText(document, target, lint)
  if (Array.isArray(document)) return document.map((item: Json, index) => fillValues(item, target, lint.at(index)))
  if (!isObject(document)) return document
  return Object.fromEntries(
    Object.entries(document).map(([name, value]) => {
      if (ALMOST.test(name)) lint.at(name).warning('Values are not filled into names; this one is sent unchanged.')
      return [name, fillValues(value, target, lint.at(name))]
    }),
  )
}

function fillText(text: string, { values, missing }: TargetValues, lint: LintSink): string {
  if (!ALMOST.test(text)) return text
  if (ALMOST.test(text.replace(REFERENCE, ''))) {
    lint.warning('This looks like a value of the target and is sent unchanged; write "${value:NAME}".')
  }
  return text.replace(REFERENCE, (reference, dollar: string, name: string) => {
    if (dollar === '$') return reference.slice(1)
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    if (value === undefined) lint.error(missing(name))
    return value ?? reference
  })
}

/** In: a text of a document of a service, which has no references. Out: the text that is filled in to be that one. */
export const escapeValues = (text: string): string => text.replace(REFERENCE, '$$$&')
