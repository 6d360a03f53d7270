/** Faults of files, with the place at which an editor or a review shows them. */
import { documentPath, type Lint } from '../../core/lint.ts'
import { scanJson } from '../../formats/json-scan.ts'
import { printable } from '../terminal-text.ts'

/** `file`: as shown to people. */
export type LocatedLint = Lint & Position & Readonly<{ file: string }>

export const locateLints = (file: string, lints: readonly Lint[], positions: JsonPositions): readonly LocatedLint[] =>
  lints
    .map((lint) => ({
      file,
      ...(positions.fault() ?? positions.of(lint.path)),
      ...lint,
      message: lint.message + placeInFile(lint, positions),
    }))
    .sort((one, other) => one.line - other.line || one.column - other.column)

/** `orders.json:12:5: error: requests.lookup[0].id: What is wrong.` */
export function formatLint({ file, line, column, severity, path, message }: LocatedLint): string {
  return printable(`${file}:${line}:${column}: ${severity}: ${path === '' ? '' : `${path}: `}${message}`)
}

/** Both count from 1; columns in UTF-16 code units. */
export type Position = Readonly<{ line: number; column: number }>

export interface JsonPositions {
  /**
   * In: a path as lints write it (`requests.lookup[0].config.url`). Out: the name of that member, or the start of that element;
   * for a value that the text does not have, the nearest one around it.
   */
  of(path: string): Position
  /** The first wrong character; undefined if the text is well-formed. */
  fault(): Position | undefined
  /** The file whose text stands at the path. */
  textFile(path: string): TextFile | undefined
}

/** `place`: in the document. `name`: as the document names it. */
export type TextFile = Readonly<{ place: string; name: string; text: string }>

/** For the end of a sentence about a text that is in a file of its own, such as ` (total.jsonata:3:14)`. */
function placeInFile({ path, message }: Lint, positions: JsonPositions): string {
  const file = positions.textFile(path)
  if (file === undefined) return ''
  const [, character] = /near character (\d+)/.exec(message) ?? []
  if (character === undefined) return ` (${file.name})`
  const { line, column } = positionIn(file.text, Math.max(Number(character) - 1, 0))
  return ` (${file.name}:${line}:${column})`
}

/** Nothing is scanned before the first question. */
export function createJsonPositions(text: string): JsonPositions {
  let known: Readonly<{ offsets: ReadonlyMap<string, number>; fault: number | undefined }> | undefined
  const scanned = () => {
    known ??= scanPositions(text)
    return known
  }
  return {
    of: (path) => positionIn(text, findOffset(path, scanned().offsets)),
    fault: () => {
      const { fault } = scanned()
      return fault === undefined ? undefined : positionIn(text, fault)
    },
    textFile: () => undefined,
  }
}

export const withTextFiles = (positions: JsonPositions, files: readonly TextFile[]): JsonPositions => ({
  ...positions,
  textFile: (path) => files.find(({ place }) => place === path || place === withoutFirstIndex(path)),
})

function positionIn(text: string, index: number): Position {
  const before = text.slice(0, index)
  return { line: before.split('\n').length, column: index - before.lastIndexOf('\n') }
}

/** A single request may be without its array, while paths count it as the first. */
const withoutFirstIndex = (path: string): string => path.replace(/\[0\](?=\.|$)/, '')

const LAST_INDEX = /\[\d+\]$/
/** A name with its escaped dots. */
const LAST_NAME = /(?:^|\.)(?:\\.|[^.\\])*$/

function findOffset(path: string, offsets: ReadonlyMap<string, number>): number {
  let left = path
  for (;;) {
    const offset = offsets.get(left) ?? offsets.get(withoutFirstIndex(left))
    if (offset !== undefined) return offset
    const shorter = left.replace(LAST_INDEX.test(left) ? LAST_INDEX : LAST_NAME, '')
    if (shorter === left || left === '') return 0
    left = shorter
  }
}

function scanPositions(text: string): { offsets: ReadonlyMap<string, number>; fault: number | undefined } {
  const start = startAfter(text, -1)
  const offsets = new Map([['', start]])
  const open: { base: string; step: string | number }[] = []
  const note = (at: number) => {
    const { base, step } = open.at(-1) as { base: string; step: string | number }
    const path = documentPath(base, step)
    // Of a repeated name, the last counts.
    offsets.set(path, at)
  }
  const fault = scanJson(text, {
    open: (kind, at) => {
      const parent = open.at(-1)
      const base = parent === undefined ? '' : documentPath(parent.base, parent.step)
      open.push({ base, step: kind === 'array' ? 0 : '' })
      if (kind === 'array') note(startAfter(text, at))
    },
    close: () => void open.pop(),
    item: (at) => {
      const array = open.at(-1)
      if (typeof array?.step !== 'number') return
      array.step++
      note(startAfter(text, at))
    },
    name: (literal, at) => {
      const object = open.at(-1)
      if (object === undefined) return
      object.step = JSON.parse(literal)
      note(at)
    },
  })
  return { offsets, fault }
}

/** The index of the first character after `index` that isn't white space of JSON. */
function startAfter(text: string, index: number): number {
  const found = /[^ \t\r\n]/g
  found.lastIndex = index + 1
  return found.exec(text)?.index ?? 0
}
