/** What can be at a place of a document: by the vocabulary of the service, the draft, and the loaded message. */
import { getLocation } from 'jsonc-parser'
import type { Vocabulary } from '../../../api/vocabulary-types.ts'
import { listMembers, nodeAt, readTree } from '../../../draft/json-places.ts'

export type { Vocabulary }

/** A field as the vocabulary has it, with what its type of /openapi.json leaves out. */
export type VocabularyField = Vocabulary['fields'][number] &
  Readonly<{
    default?: unknown
    assumed?: string
    enum?: readonly unknown[]
    examples?: readonly unknown[]
    expects?: string
    readsNames?: boolean
  }>

export type Word = Readonly<{
  /** What is shown. */
  label: string
  /** JSON that is written. */
  insert: string
  detail?: string
  info?: string
  kind: 'property' | 'enum' | 'variable' | 'function'
}>

export type WordsAt = Readonly<{
  words: readonly Word[]
  /** The part of the text that a word replaces. */
  from: number
  to: number
}>

/** A path that the loaded message has, with a value of it as text. */
export type MessagePath = Readonly<{ path: string; sample: string }>

/** In: the path of a place as jsonc-parser has it. Out: the field of the vocabulary; undefined if no field is there. */
export function fieldFor(
  { fields }: Pick<Vocabulary, 'fields'>,
  path: readonly (string | number)[],
): VocabularyField | undefined {
  const known = new Map(fields.map((field) => [field.path, field as VocabularyField]))
  let now = ''
  for (const step of path) {
    const names = typeof step === 'number' ? [`${now}[]`] : [joinName(now, step), joinName(now, '<name>')]
    const next = names.find((name) => known.has(name))
    if (next === undefined) return undefined
    now = next
  }
  return known.get(now)
}

const joinName = (base: string, name: string): string => (base === '' ? name : `${base}.${name}`)

/** In: the text and a place in it. Out: what can be there; undefined if nothing is known. */
export function wordsAt(
  text: string,
  offset: number,
  vocabulary: Vocabulary,
  paths: readonly MessagePath[],
): WordsAt | undefined {
  const { path, isAtPropertyKey, previousNode } = getLocation(text, offset)
  const isWithin = previousNode !== undefined && previousNode.offset + previousNode.length >= offset
  const from = isWithin ? previousNode.offset : offset
  const to = isWithin ? previousNode.offset + previousNode.length : offset
  if (isAtPropertyKey) {
    const words = namesAt(text, path.slice(0, -1), vocabulary, paths)
    const hasColon = /^\s*:/.test(text.slice(to))
    return { words: words.map((word) => (hasColon ? withoutValue(word) : word)), from, to }
  }
  const words = valuesAt(path, vocabulary, paths)
  return words.length === 0 ? undefined : { words, from, to }
}

const withoutValue = (word: Word): Word => ({ ...word, insert: JSON.stringify(word.label) })

function namesAt(
  text: string,
  object: readonly (string | number)[],
  vocabulary: Vocabulary,
  paths: readonly MessagePath[],
): readonly Word[] {
  const parent = object.length === 0 ? undefined : fieldFor(vocabulary, object)
  if (object.length > 0 && parent === undefined) return namesInMapping(text, object, vocabulary, paths)
  const there = new Set(listMembers(nodeAt(readTree(text), object)).map(({ name }) => name))
  const base = parent?.path ?? ''
  if (parent?.readsNames) {
    return pathWords(vocabulary, parent.reads, paths).map((word) => ({ ...word, insert: `${word.insert}: ""` }))
  }
  return vocabulary.fields
    .map((field) => ({ field: field as VocabularyField, name: childName(base, field.path) }))
    .filter(({ name }) => name !== undefined && name !== '<name>' && !there.has(name))
    .map(({ field, name = '' }) => ({
      label: name,
      insert: `${JSON.stringify(name)}: ${starterValue(field)}`,
      kind: 'property' as const,
      detail: field.required ? 'required' : (field.type ?? ''),
      info: field.description ?? '',
    }))
}

/** The keys of a target, and the sources of an `each`. */
function namesInMapping(
  text: string,
  object: readonly (string | number)[],
  vocabulary: Vocabulary,
  paths: readonly MessagePath[],
): readonly Word[] {
  const from = object.findIndex((_, at) => fieldFor(vocabulary, object.slice(0, at))?.readsNames)
  if (from === -1) return []
  let place: 'entries' | 'target' | 'other' = 'entries'
  for (const step of object.slice(from)) {
    if (place === 'entries') place = 'target'
    else if (place === 'target' && typeof step !== 'number') place = step === 'each' ? 'entries' : 'other'
  }
  if (place === 'other') return []
  const there = new Set(listMembers(nodeAt(readTree(text), object)).map(({ name }) => name))
  const words = place === 'target' ? vocabulary.mappingTarget : vocabulary.eachRoots
  const own = words
    .filter(({ name }) => !there.has(name))
    .map(({ name, means }) => ({
      label: name,
      insert: `${JSON.stringify(name)}: ${name === 'each' ? '{}' : '""'}`,
      kind: place === 'target' ? ('property' as const) : ('variable' as const),
      info: means,
    }))
  if (place === 'target') return own
  const { reads } = fieldFor(vocabulary, object.slice(0, from)) ?? {}
  return [...own, ...pathWords(vocabulary, reads, paths).map((word) => ({ ...word, insert: `${word.insert}: ""` }))]
}

function childName(base: string, path: string): string | undefined {
  const rest = base === '' ? path : path.startsWith(`${base}.`) ? path.slice(base.length + 1) : undefined
  return rest === undefined || /[.[]/.test(rest) ? undefined : rest
}

function starterValue({ type, enum: values, examples }: VocabularyField): string {
  if (values?.[0] !== undefined) return JSON.stringify(values[0])
  if (type === 'object') return '{}'
  if (type === 'array') return '[]'
  if (type === 'boolean') return 'true'
  if (type === 'integer' || type === 'number') return JSON.stringify(examples?.[0] ?? 0)
  return '""'
}

function valuesAt(
  path: readonly (string | number)[],
  vocabulary: Vocabulary,
  paths: readonly MessagePath[],
): readonly Word[] {
  const field = fieldFor(vocabulary, path)
  if (path.at(-1) === 'transform' && path.some((_, at) => fieldFor(vocabulary, path.slice(0, at))?.readsNames))
    return functionWords(vocabulary)
  if (field === undefined) return []
  const { reads, enum: values = [], examples = [], type } = field
  if (field.evaluates !== undefined) return []
  if (reads !== undefined && !field.readsNames) return pathWords(vocabulary, reads, paths)
  const known = type === 'boolean' ? [true, false] : values
  const words = (known.length > 0 ? known : examples).filter((value) => typeof value !== 'object')
  return words.map((value) => ({
    label: String(value),
    insert: JSON.stringify(value),
    kind: 'enum' as const,
    ...(field.default === value && { detail: 'default' }),
    ...(known.length === 0 && { detail: 'example' }),
  }))
}

/** Roots that may be read here; of the loaded message, its paths. */
function pathWords({ roots }: Vocabulary, reads: string | undefined, paths: readonly MessagePath[]): readonly Word[] {
  const allowed = reads === undefined ? undefined : roots[reads]
  if (allowed === undefined) return []
  const known = paths
    .filter(({ path }) => allowed.roots.some((root) => path === root || path.startsWith(`${root}.`)))
    .map(({ path, sample }) => ({
      label: path,
      insert: JSON.stringify(path),
      kind: 'variable' as const,
      detail: sample,
    }))
  const bare = allowed.roots
    .filter((root) => !known.some(({ label }) => label === root))
    .map((root) => ({ label: root, insert: JSON.stringify(root), kind: 'variable' as const, detail: allowed.when }))
  return [...known, ...bare]
}

const functionWords = ({ mappingFunctions }: Vocabulary): readonly Word[] =>
  mappingFunctions.map(({ name, signature, means, needsParameters }) => ({
    label: name,
    insert: needsParameters ? `{ "function": ${JSON.stringify(name)}, "parameters": {} }` : JSON.stringify(name),
    kind: 'function' as const,
    ...(signature !== undefined && { detail: signature }),
    ...(means !== undefined && { info: means }),
  }))

/** What is said about the field at a place; undefined if it is none of the vocabulary. */
export function meaningAt(text: string, offset: number, vocabulary: Vocabulary): VocabularyField | undefined {
  const { path } = getLocation(text, offset)
  return path.length === 0 ? undefined : fieldFor(vocabulary, path)
}
