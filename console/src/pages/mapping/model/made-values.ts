/** Values that an entry reads and that are no path of the message: constants and expressions, written with their entry in one step. */
import type { Vocabulary } from '../../../api/vocabulary-types.ts'
import { applyToText, setValue } from '../../../draft/json-edits.ts'
import { listMembers, memberNamed } from '../../../draft/json-places.ts'
import { addTarget } from './entry-edits.ts'
import { type MappingText, readMapping } from './mapping-entries.ts'
import { sourceSegments } from './path-names.ts'

export type ValueForm = Vocabulary['valueForms'][number]

/** A value as somebody types it: JSON where it is JSON, a text otherwise. */
export function readTyped(typed: string): unknown {
  try {
    return JSON.parse(typed) as unknown
  } catch {
    return typed
  }
}

/** A text without quotes, unless it would be read as something else. */
export const showTyped = (value: unknown): string =>
  typeof value === 'string' && value === value.trim() && readTyped(value) === value ? value : JSON.stringify(value)

/** A path of a mapping as JSONata has it; undefined if it is not one, or JSONata cannot write it. */
function expressionPath(path: string): string | undefined {
  const segments = sourceSegments(path.trim())
  if (segments === undefined || segments.some(({ name }) => name.includes('`'))) return undefined
  return segments
    .map(({ name, brackets }) => {
      const indexes = brackets.map((step) => (step.kind === 'index' ? `[${step.index}]` : ''))
      return `${/^[A-Za-z_]\w*$/.test(name) ? name : `\`${name}\``}${indexes.join('')}`
    })
    .join('.')
}

/** In: a form and what was typed by parameter. Out: the value to write; undefined while something is missing. */
export function fillForm({ template, parameters }: ValueForm, typed: Readonly<Record<string, string>>): unknown {
  let text = ''
  for (const part of template.split(/(\{\w+\})/)) {
    const parameter = parameters.find(({ name }) => part === `{${name}}`)
    if (parameter === undefined) {
      text += part
      continue
    }
    const { name, kind, mayBeEmpty } = parameter
    const given = typed[name] ?? ''
    if (given === '' && mayBeEmpty !== true) return undefined
    if (kind === 'json') return readTyped(given)
    const paths = given.split(',').map(expressionPath)
    const isPath = kind === 'path' || kind === 'paths'
    if (isPath && (paths.includes(undefined) || (kind === 'path' && paths.length > 1))) return undefined
    text += isPath ? paths.join(', ') : kind === 'text' ? JSON.stringify(given) : given
  }
  return text
}

/** Out: the text of the document with the value and an entry that writes it; or why there is none. */
export function addMadeValue(
  mapping: MappingText,
  at: ValueForm['at'],
  value: unknown,
  key: string,
): Readonly<{ text: string; source: string }> | string {
  const taken = listMembers(memberNamed(mapping.root, at)).map(({ name }) => name)
  const [word = 'value'] = key.match(/[A-Za-z]\w*/g)?.slice(-1) ?? []
  let name = word
  for (let count = 2; taken.includes(name); count += 1) name = `${word}${count}`
  const source = `${at === 'constants' ? at : 'transforms'}.${name}`
  const next = readMapping(setValue(mapping.text, [at, name], value))
  if (typeof next === 'string') return next
  const edited = addTarget(next, source, { key })
  return edited.ok ? { text: applyToText(next.text, edited.edits), source } : edited.why
}

/** The constant or expression that an entry reads, and its place in the document. */
export function findMadeValue({ root }: MappingText, source: string) {
  const [, part, name = ''] = /^(constants|transforms)\.(\w+)$/.exec(source) ?? []
  const at = part === 'transforms' ? 'inputTransforms' : 'constants'
  return part === undefined ? undefined : { at, name, node: memberNamed(memberNamed(root, at), name) }
}

/** In: lines such as `F = female`, or with a tab as spreadsheets have it. Out: the parameters, or a sentence about a line. */
export function readCodes(text: string): Readonly<Record<string, unknown>> | string {
  const codes: [string, unknown][] = []
  for (const line of text.split('\n').filter((one) => one.trim() !== '')) {
    const [, code, value] = /^\s*("(?:[^"\\]|\\.)*"|[^=\t]*?)\s*[=\t]\s*(.*?)\s*$/.exec(line) ?? []
    if (code === undefined || value === undefined) return `Write "code = value" in place of "${line.slice(0, 60)}".`
    const name = code.startsWith('"') ? readTyped(code) : code
    codes.push([String(name), readTyped(value)])
  }
  return Object.fromEntries(codes)
}

/** The reverse of `readCodes`. */
export const showCodes = (codes: Readonly<Record<string, unknown>>): string =>
  Object.entries(codes)
    .map(
      ([code, value]) => `${/^"|[=\t\n\r]|^\s|\s$|^$/.test(code) ? JSON.stringify(code) : code} = ${showTyped(value)}`,
    )
    .join('\n')
