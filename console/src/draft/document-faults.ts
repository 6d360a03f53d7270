/** The faults of a draft, each with its place in the text. */
import type { Node } from 'jsonc-parser'
import type { RunReport } from '../api/run-calls.ts'
import { enclosingMember, findValue, readTree } from './json-places.ts'
import { syntaxFaults } from './syntax-faults.ts'

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
