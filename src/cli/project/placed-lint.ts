/** Faults of files, with the place at which an editor or a review shows them. */
import { relative } from 'node:path'
import type { Lint } from '../../domain/lint.ts'
import { printable } from '../terminal-text.ts'
import type { JsonPositions, Position } from './json-positions.ts'

/** `file`: as shown to people. */
export type PlacedLint = Lint & Position & Readonly<{ file: string }>

export const placeLints = (file: string, lints: readonly Lint[], positions: JsonPositions): readonly PlacedLint[] =>
  lints
    .map((lint) => ({ file, ...(positions.fault() ?? positions.of(lint.path)), ...lint }))
    .sort((one, other) => one.line - other.line || one.column - other.column)

/** `orders.json:12:5: error: requests.lookup[0].id: What is wrong.` */
export function lineOf({ file, line, column, severity, path, message }: PlacedLint): string {
  return printable(`${file}:${line}:${column}: ${severity}: ${path === '' ? '' : `${path}: `}${message}`)
}

/** A path as people see it: from the working folder, unless it is outside of that. */
export function shownPath(path: string): string {
  const short = relative('', path)
  return short === '' || short.startsWith('..') ? path : short
}
