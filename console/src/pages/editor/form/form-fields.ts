/** The fields of documents as forms show them: a tree with the kind of each, from the flat list of the vocabulary. */
import type { Vocabulary, VocabularyField } from '../assist/document-words.ts'
import { alternatives, fieldLabel, STARTERS } from './form-table.ts'

export type FieldKind =
  | 'text'
  | 'expression'
  | 'number'
  | 'flag'
  | 'choice'
  | 'list'
  | 'map'
  | 'group'
  /** A text, or an object or a list in its place. */
  | 'either'
  | 'mapping'
  | 'json'

export type FormField = Readonly<{
  /** As the vocabulary has it, such as `requests.lookup[].id`. */
  path: string
  name: string
  label: string
  kind: FieldKind
  spec: VocabularyField
  /** The members of a group; the one field of the elements of a list, or of the values of a map. */
  children: readonly FormField[]
  /** The names of those children of which there is one. */
  oneOf: readonly string[]
  /** What is chosen between them. */
  oneOfLabel: string
}>

/** Out: the fields of the document itself, in the order of the vocabulary. */
export function readFields({ fields }: Pick<Vocabulary, 'fields'>): readonly FormField[] {
  const below = Map.groupBy(fields as readonly VocabularyField[], ({ path }) =>
    path.endsWith('[]') ? path.slice(0, -2) : path.slice(0, Math.max(0, path.lastIndexOf('.'))),
  )
  const read = (spec: VocabularyField): FormField => {
    const { path } = spec
    const children = (below.get(path) ?? []).map(read)
    const name = path.slice(path.lastIndexOf('.') + 1)
    const names = children.map((child) => child.name)
    const { names: oneOf, label: oneOfLabel } = alternatives(path, names)
    return { path, name, label: fieldLabel(path), kind: kindOf(spec, children), spec, children, oneOf, oneOfLabel }
  }
  return (below.get('') ?? []).map(read)
}

function kindOf({ type, types, enum: values, ...spec }: VocabularyField, [first]: readonly FormField[]): FieldKind {
  if (spec.readsNames) return 'mapping'
  if (values !== undefined) return 'choice'
  if (spec.evaluates !== undefined) return 'expression'
  if (first !== undefined && types !== undefined) return 'either'
  if (first !== undefined) return type === 'array' ? 'list' : first.name === '<name>' ? 'map' : 'group'
  if (type === 'boolean') return 'flag'
  if (type === 'integer' || type === 'number') return 'number'
  return type === 'string' || types !== undefined ? 'text' : 'json'
}

/** The field at a path of the vocabulary. */
export function findField(fields: readonly FormField[], path: string): FormField | undefined {
  for (const field of fields) {
    const found =
      field.path === path ? field : path.startsWith(field.path) ? findField(field.children, path) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

/** A value that a field can begin with: what it requires, and no more. */
export function starterValue({ path, kind, spec, children, oneOf }: FormField): unknown {
  if (kind === 'choice') return spec.enum?.[0] ?? ''
  if (kind === 'number') return spec.examples?.[0] ?? spec.minimum ?? 0
  if (kind === 'flag') return true
  if (kind === 'list') return spec.required && children[0] ? [starterValue(children[0])] : []
  if (kind === 'text' || kind === 'expression' || kind === 'either') return ''
  const [one] = oneOf
  const needed = children.filter(({ name, spec: { required } }) => required || (name === one && !STARTERS[path]))
  return { ...Object.fromEntries(needed.map((child) => [child.name, starterValue(child)])), ...STARTERS[path] }
}

/** Whether a value leaves out what the field holds without it. */
export const isOffByDefault = ({ assumed, default: filledIn }: VocabularyField): boolean =>
  filledIn === false || assumed?.startsWith('`false`') === true
