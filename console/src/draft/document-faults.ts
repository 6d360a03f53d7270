/** The faults of a draft, each with its place in the text. */
import { type Node, type ParseError, parse, printParseErrorCode } from 'jsonc-parser'
import type { RunReport } from '../api/run-calls.ts'
import { enclosingMember, findValue, readTree, type Span } from './json-places.ts'

export type DocumentFault = Readonly<{
  severity: 'error' | 'warning'
  /** As the service names the place; '' for the document, undefined for a fault of the JSON. */
  path: string | undefined
  message: string
  from: number
  to: number
}>

/** The request that checks a draft only, as JSON text with it as typed; undefined while it isn't a JSON object. */
export function lintRequest(draft: string, endpointId: string | undefined): string | undefined {
  if (!isJsonObject(draft)) return undefined
  const id = endpointId === undefined ? '' : `"endpointId":${JSON.stringify(endpointId)},`
  return `{"endpoint":${draft},${id}"run":false}`
}

export function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

/** In: the text, and what the service found in it or in an earlier one. Out: in the order of the text. */
export function documentFaults(text: string, lint: RunReport['lint'] | undefined): readonly DocumentFault[] {
  const syntax = syntaxFaults(text)
  if (syntax.length > 0) return syntax.map((fault) => ({ ...fault, severity: 'error', path: undefined }))
  if (lint === undefined) return []
  const found = [
    ...lint.errors.map((fault) => ({ ...fault, severity: 'error' as const })),
    ...lint.clashes.map((fault) => ({ ...fault, severity: 'error' as const })),
    ...lint.warnings.map((fault) => ({ ...fault, severity: 'warning' as const })),
  ]
  const root = readTree(text)
  return found
    .map((fault) => ({ ...fault, ...faultSpan(root, fault.path) }))
    .toSorted((one, other) => one.from - other.from)
}

/** What is marked for a path: a short value, or the name of one that is long or lacks something. */
export function faultSpan(root: Node | undefined, path: string): Readonly<{ from: number; to: number }> {
  if (root === undefined) return { from: 0, to: 0 }
  const { value, span, isWhole } = findValue(root, path)
  const name = enclosingMember(value) === value ? undefined : enclosingMember(value).children?.[0]
  if (isWhole && value.children === undefined) return span
  if (name !== undefined) return { from: name.offset, to: name.offset + name.length }
  // The opening bracket of the document or of an element.
  return { from: span.from, to: Math.min(span.from + 1, span.to) }
}

/** The line of a place, from 1. */
export function lineAt(text: string, offset: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1
  return line
}

type SyntaxFault = Span & Readonly<{ message: string }>

const MESSAGES: Readonly<Record<string, string>> = {
  PropertyNameExpected: 'Expected a name in double quotes here.',
  ValueExpected: 'Expected a value here.',
  ColonExpected: 'Expected a colon between a name and its value.',
  CommaExpected: 'Expected a comma between two members or elements.',
  CloseBraceExpected: 'This object has no closing brace.',
  CloseBracketExpected: 'This array has no closing bracket.',
  EndOfFileExpected: 'Nothing may follow the document.',
  InvalidCommentToken: 'JSON has no comments.',
  UnexpectedEndOfComment: 'JSON has no comments.',
  UnexpectedEndOfString: 'This text has no closing quote.',
  UnexpectedEndOfNumber: 'This number is not complete.',
  InvalidUnicode: 'This escape of a character is not complete.',
  InvalidEscapeCharacter: 'This escape is unknown in JSON.',
  InvalidCharacter: 'This control character must be escaped.',
}

/** The faults of a text in their order; none if it is JSON. */
export function syntaxFaults(text: string): readonly SyntaxFault[] {
  const errors: ParseError[] = []
  parse(text, errors, { disallowComments: true, allowTrailingComma: false })
  return errors.map(({ error, offset, length }) => ({
    from: Math.min(offset, text.length),
    to: Math.min(offset + Math.max(1, length), text.length),
    message: MESSAGES[printParseErrorCode(error)] ?? 'This is not JSON.',
  }))
}
