/** The rules of the architecture test. Each takes the files of src/ and returns one sentence or name for each fault. */
import { readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { posix } from 'node:path'

/** `path` is relative to src/. */
export type Source = Readonly<{ path: string; text: string }>

/** Which folders each folder may import from, beside itself. */
export type Arrows = Readonly<Record<string, readonly string[]>>

export const readSources = (folder: string): readonly Source[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path))
    .sort()
    .map((path) => ({ path, text: readFileSync(`${folder}/${path}`, 'utf8') }))

/** What a file imports, types too, as it is written there. */
function importsOf({ text }: Source): string[] {
  const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
  const found = code.matchAll(/\bfrom\s*['"]([^'"\s]+)['"]|\bimport\s*\(?\s*['"]([^'"\s]+)['"]/g)
  return Array.from(found, ([, from, direct]) => from ?? direct ?? '')
}

/** The row of a file: its folder at the root, or its own name if it is at the root. */
const rowOf = (path: string): string => path.split('/')[0] ?? ''

const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`)

/** The files of src/ that a file imports, by their paths. */
const targetsOf = (source: Source): string[] =>
  importsOf(source)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => posix.join(posix.dirname(source.path), specifier))

/** Imports that the table does not allow, and folders without a row. */
export function wrongImports(files: readonly Source[], arrows: Arrows): string[] {
  return files.flatMap((source) => {
    const row = rowOf(source.path)
    const allowed = arrows[row]
    if (allowed === undefined) return [`src/${row} has no row in the table: add one that says what it may import.`]
    return targetsOf(source)
      .filter((target) => rowOf(target) !== row && !allowed.some((one) => isWithin(target, one)))
      .map((target) => `src/${source.path} must not import src/${target}.`)
  })
}

/** Rows of the table for folders that do not exist. */
export function emptyRows(files: readonly Source[], arrows: Arrows): string[] {
  const rows = new Set(files.map(({ path }) => rowOf(path)))
  return Object.keys(arrows).filter((row) => !rows.has(row))
}

/** Names in a row that are below it in the table. */
export function downwardRows(arrows: Arrows): string[] {
  const rows = Object.keys(arrows)
  return rows.flatMap((row, at) =>
    (arrows[row] ?? []).filter((one) => rows.indexOf(one) >= at).map((one) => `${row} names ${one}`),
  )
}

/** Imports between two of the folders below one folder, which are to know nothing of each other. */
export function importsBetween(files: readonly Source[], parent: string): string[] {
  const childOf = (path: string): string => path.split('/').slice(0, 2).join('/')
  return files
    .filter(({ path }) => isWithin(path, parent))
    .flatMap((source) =>
      targetsOf(source)
        .filter((target) => isWithin(target, parent) && childOf(target) !== childOf(source.path))
        .map((target) => `${source.path} must not import ${target}.`),
    )
}

/** The circles of imports, types included: each a list of files that reach each other (Tarjan's algorithm). */
export function circlesOf(files: readonly Source[]): string[][] {
  const targets = new Map(files.map((source) => [source.path, targetsOf(source)]))
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const path: string[] = []
  const circles: string[][] = []
  const visit = (file: string): void => {
    order.set(file, order.size)
    lowest.set(file, order.get(file) ?? 0)
    path.push(file)
    for (const target of targets.get(file) ?? []) {
      if (!targets.has(target)) continue
      if (!order.has(target)) visit(target)
      if (path.includes(target)) lowest.set(file, Math.min(lowest.get(file) ?? 0, lowest.get(target) ?? 0))
    }
    if (lowest.get(file) !== order.get(file)) return
    const circle = path.splice(path.indexOf(file))
    if (circle.length > 1) circles.push(circle.sort())
  }
  for (const file of targets.keys()) if (!order.has(file)) visit(file)
  return circles
}

const linesOf = ({ text }: Source): number => text.trimEnd().split('\n').length

/** The package of an import: `@scope/name` or `name`, without the path in it. */
function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

/** Imported packages that are no dependencies, and dependencies that no file imports. */
export function packageFaults(files: readonly Source[], dependencies: readonly string[]): string[] {
  const imported = new Set(
    files
      .flatMap(importsOf)
      .filter((specifier) => !specifier.startsWith('.') && !isBuiltin(specifier))
      .map(packageOf),
  )
  return [...imported.symmetricDifference(new Set(dependencies))]
}

const KEBAB_CASE = /^(?:[a-z0-9]+(?:-[a-z0-9]+)*\/)*[a-z0-9]+(?:-[a-z0-9]+)*\.tsx?$/
const EMPTY_NAME = /(?:^|[/-])(?:utils?|helpers?|common|misc|ctx)(?:[/.-]|$)/

const pathsOf = (files: readonly Source[]): string[] => files.map(({ path }) => path)

export const namesNotInKebabCase = (files: readonly Source[]): string[] =>
  pathsOf(files).filter((path) => !KEBAB_CASE.test(path))

export const namesThatSayNothing = (files: readonly Source[]): string[] =>
  pathsOf(files).filter((path) => EMPTY_NAME.test(path))

export const longFiles = (files: readonly Source[], most: number): string[] =>
  pathsOf(files.filter((source) => linesOf(source) > most))

/** Comparisons with one of these texts. */
export function comparisonsWith(texts: readonly string[], files: readonly Source[]): string[] {
  const quoted = texts.map((text) => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')).join('|')
  const comparison = new RegExp(`(?:[!=]==|\\bcase)\\s*['"](?:${quoted})['"]`, 'g')
  return files.flatMap(({ path, text }) => Array.from(text.matchAll(comparison), ([found]) => `${path}: ${found}`))
}

/** Uses of one of these names. */
export const namesIn = (names: readonly string[], files: readonly Source[]): string[] =>
  files.flatMap(({ path, text }) =>
    names.filter((name) => new RegExp(`\\b${name}\\b`).test(text)).map((name) => `${path}: ${name}`),
  )

/** `any` as a type, and the comments that turn the compiler off; texts and comments may speak of any. */
export const evasions = (files: readonly Source[]): string[] => files.flatMap(evasionsOf)

function evasionsOf({ path, text }: Source): string[] {
  const found = [...text.matchAll(/@ts-(?:ignore|expect-error|nocheck)/g)].map(([comment]) => `src/${path}: ${comment}`)
  const code = text.replace(/'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|\/\*[\s\S]*?\*\/|\/\/.*/g, "''")
  if (/(?:[:<|&,=(]|\bas|=>)\s*any\b(?!\s*[:(])/.test(code)) found.push(`src/${path}: any`)
  return found
}
