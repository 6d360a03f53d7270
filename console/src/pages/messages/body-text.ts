/** The bytes of a body as text, and what its file is called. */
import type { BodySummary } from '../../api/records/record-types.ts'

/** In: the bytes of a body and its type. Out: its text in the character set that it has. */
export function decodeBodyText(bytes: ArrayBuffer, contentType: string): string | undefined {
  const [, named] = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType) ?? []
  for (const charset of ['utf-8', ...(named === undefined ? [] : [named])]) {
    try {
      return new TextDecoder(charset, { fatal: true, ignoreBOM: true }).decode(bytes)
    } catch {
      // Not of this character set, or its name is not known.
    }
  }
  return undefined
}

/** As the vocabulary of the service has them. */
type KnownTypes = readonly Readonly<{ types: readonly string[]; fileEndings: readonly string[]; suffix?: string }>[]

/**
 * The name of the file of a body: made of the id and what the body is, never of what the message says. `known`: the types of the
 * formats.
 */
export function bodyFileName(id: string, { which, contentType }: BodySummary, known: KnownTypes): string {
  const [type = ''] = contentType.toLowerCase().split(/[;\s]/)
  const format = known.find(
    ({ types, suffix }) => types.includes(type) || (suffix !== undefined && type.endsWith(suffix)),
  )
  const isText = type.startsWith('text/')
  // The headers, values that were mapped and the like are recorded as JSON.
  const isValue = type === '' && !/^(incoming|answer|lookup\.|response\.)/.test(which)
  const ending = format?.fileEndings[0] ?? (isValue ? '.json' : isText ? '.txt' : '.bin')
  return `${id}-${which.replace(/[^\w.-]/g, '_').slice(0, 100)}${ending}`
}

/** What a body is, for people. */
export function bodyTitle(which: string): string {
  const [, kind, id] = /^(lookup|response)\.(.*)$/s.exec(which) ?? []
  if (id !== undefined) return kind === 'lookup' ? `Answer of lookup ${id}` : `Answer of response ${id}`
  return TITLES[which] ?? which
}

const TITLES: Readonly<Record<string, string>> = {
  request: 'Headers, query and parameters',
  incoming: 'Incoming body',
  lookups: 'Answers of lookups, for a replay',
  transforms: 'Results of transforms',
  mapped: 'Mapped output',
  answer: 'Answer to the sender',
}
