/** Changes of entries as edits of the text of the document: nothing but the entry that is meant changes. */
import type { Edit } from '../../../draft/draft.ts'
import {
  applyToText,
  insertElement,
  insertMember,
  insertObject,
  isSpaced,
  nodeText,
  objectText,
  removeChild,
  replaceNode,
} from '../../../draft/json-edits.ts'
import { listMembers } from '../../../draft/json-places.ts'
import type { EntryTarget, MappingLine, MappingText } from './mapping-entries.ts'

/** A connection that is to be made. */
export type NewTarget = Readonly<{
  key: string
  transform?: string | undefined
  /** The first entry of an `each`. */
  each?: NewEntry | undefined
}>
export type NewEntry = NewTarget & Readonly<{ source: string }>

export type Edited = Readonly<{ ok: true; edits: readonly Edit[] } | { ok: false; why: string }>

const done = (...edits: readonly Edit[]): Edited => ({ ok: true, edits })
const refuse = (why: string): Edited => ({ ok: false, why })

const REPEATED = 'This source is in the document twice. Change it in the editor.'
const TWICE = 'This source has this target already.'

const newTargetText = ({ key, transform, each }: NewTarget, spaced: boolean): string => {
  const written = JSON.stringify(key)
  if (each === undefined && transform === undefined) return written
  const rest =
    each === undefined
      ? (['transform', JSON.stringify(transform)] as const)
      : (['each', objectText([[each.source, newTargetText(each, spaced)]], spaced)] as const)
  return objectText([['key', written], rest], spaced)
}

/**
 * The sources of other entries that write the same place, so that a later one replaces what an earlier one wrote. A target that
 * appends to a list replaces nothing.
 */
export function findWriters({ entries }: MappingText, source: string, key: string): readonly string[] {
  if (/\[\]\+?$/.test(key)) return []
  return entries
    .filter((entry) => entry.source !== source && entry.targets.some((target) => target.key === key))
    .map((entry) => entry.source)
}

/** Adds a target to the entry of a source, or an entry at the end. */
export const addTarget = (mapping: MappingText, source: string, target: NewTarget): Edited =>
  insertTarget(
    mapping,
    source,
    target.key,
    newTargetText(target, isSpaced(mapping.text, mapping.object ?? mapping.root)),
  )

/** The same with a target as JSON text. */
export function insertTarget(
  { text, root, object, entries }: MappingText,
  source: string,
  key: string | undefined,
  written: string,
): Edited {
  const same = entries.filter((entry) => entry.source === source)
  const [entry] = same
  if (same.length > 1) return refuse(REPEATED)
  if (entry !== undefined) {
    if (entry.targets.some((target) => target.key !== undefined && target.key === key)) return refuse(TWICE)
    const { value } = entry
    if (value.type === 'array') return done(insertElement(text, value, written))
    if (value.type !== 'string' && value.type !== 'object') {
      return refuse('The entry of this source has no target that this view can show. Change it in the editor.')
    }
    const comma = isSpaced(text, object ?? root) ? ', ' : ','
    return done(
      { from: value.offset, insert: '[' },
      { from: value.offset + value.length, insert: `${comma}${written}]` },
    )
  }
  return done(
    object === undefined
      ? insertObject(text, root, 'inputMapping', source, written)
      : insertMember(text, object, source, written),
  )
}

/** Removes one target, and its entry if it has no other. */
export function removeTarget({ object: whole }: MappingText, { entry, target, within }: MappingLine): Edited {
  const { object } = within ?? { object: whole }
  if (entry.isRepeated) return refuse(REPEATED)
  if (within?.entries.length === 1 && entry.targets.length === 1) {
    return refuse('An "each" needs an entry. Remove the "each" itself.')
  }
  if (entry.targets.length > 1) return done(removeChild(entry.value, target.node))
  return object === undefined ? refuse(REPEATED) : done(removeChild(object, entry.member))
}

/** Gives a target another key. */
export function changeKey({ text }: MappingText, { entry, target, at }: MappingLine, key: string): Edited {
  if (entry.isRepeated) return refuse(REPEATED)
  if (entry.targets.some((other, index) => index !== at && other.key === key)) return refuse(TWICE)
  if (target.keyNode !== undefined) return done(replaceNode(target.keyNode, JSON.stringify(key)))
  if (target.node.type !== 'object') return refuse('Change this target in the editor.')
  return done(insertMember(text, target.node, 'key', JSON.stringify(key)))
}

/** Lets one target read another source: its entry takes the new path, or the target moves to the entry of that source. */
export function changeSource(mapping: MappingText, line: MappingLine, source: string): Edited {
  const { entry, target } = line
  if (entry.isRepeated) return refuse(REPEATED)
  if (source === entry.source) return done()
  const scoped = { ...mapping, ...line.within }
  const other = scoped.entries.find((one) => one.source === source)
  if (other === undefined && entry.targets.length === 1) {
    return done(replaceNode(entry.keyNode, JSON.stringify(source)))
  }
  const removed = removeTarget(mapping, line)
  const added = insertTarget(scoped, source, target.key, asItem(mapping.text, target))
  if (!removed.ok || !added.ok) return removed.ok ? added : removed
  return done(...removed.edits, ...added.edits)
}

/** A target as it is written, with another key. */
export function withKey(text: string, target: EntryTarget, key: string): string {
  if (target.form === 'short') return objectForm(text, target, { key: JSON.stringify(key) })
  const { node, keyNode = node } = target
  return applyToText(nodeText(text, node), [
    {
      ...replaceNode(keyNode, JSON.stringify(key)),
      from: keyNode.offset - node.offset,
      to: keyNode.offset - node.offset + keyNode.length,
    },
  ])
}

/** A short form means several targets outside of an array. */
const asItem = (text: string, target: EntryTarget): string =>
  target.form === 'short' ? objectForm(text, target, {}) : nodeText(text, target.node)

/** Sets or removes the function of a target, by its name. `parameters`: JSON text. */
export function changeTransform(
  mapping: MappingText,
  line: MappingLine,
  name: string | undefined,
  parameters?: string,
): Edited {
  const written = name === undefined ? undefined : JSON.stringify(name)
  if (written === undefined || parameters === undefined) return changePart(mapping, line, 'transform', written)
  const members = [['function', written] as const, ['parameters', parameters] as const]
  return changePart(
    mapping,
    line,
    'transform',
    objectText(members, isSpaced(mapping.text, mapping.object ?? mapping.root)),
  )
}

/** Sets or removes the default of a target. `fill`: JSON text. */
export function changeFill(mapping: MappingText, line: MappingLine, fill: string | undefined): Edited {
  try {
    if (fill !== undefined) JSON.parse(fill)
  } catch {
    return refuse('A default is JSON: write a text in double quotes.')
  }
  return changePart(mapping, line, 'default', fill?.trim())
}

type Part = 'transform' | 'default'

function changePart(
  { text }: MappingText,
  { entry, target }: MappingLine,
  part: Part,
  value: string | undefined,
): Edited {
  if (entry.isRepeated) return refuse(REPEATED)
  const now = part === 'transform' ? target.transform?.text : target.fill
  if (now === value) return done()
  if (target.form === 'text' || target.form === 'short') {
    return done(replaceNode(target.node, objectForm(text, target, { [part]: value })))
  }
  if (target.form !== 'object') return refuse('Change this target in the editor.')
  const members = listMembers(target.node).filter(({ name }) => name === part)
  const [member] = members
  if (members.length > 1) return refuse('This target has a name twice. Change it in the editor.')
  if (member === undefined) return value === undefined ? done() : done(insertMember(text, target.node, part, value))
  return done(
    value === undefined ? removeChild(target.node, member.key.parent ?? member.key) : replaceNode(member.value, value),
  )
}

/** The target as an object, with some parts changed. */
function objectForm(
  text: string,
  target: EntryTarget,
  changes: Readonly<{ [Name in Part | 'key']?: string | undefined }>,
): string {
  const key = target.keyNode && nodeText(text, target.keyNode)
  const parts = { key, transform: target.transform?.text, default: target.fill, ...changes }
  const members = Object.entries(parts).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  )
  let object = target.node
  while (object.type !== 'object' && object.parent !== undefined) object = object.parent
  return objectText(members, isSpaced(text, object))
}
