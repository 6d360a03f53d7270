/** What is typed on the page of examples: kept for a reload, and sent as a request. */
import { useEffect, useState } from 'react'
import type { Answers, Example } from '../../api/by-example-calls.ts'
import { keep, readKept } from '../../draft/kept-drafts.ts'

export type TypedPair = Readonly<{ message: string; output: string }>

/** The types are empty where the texts say by their beginning what they are in. */
export type GivenExamples = Readonly<{
  name: string
  messageType: string
  outputType: string
  pairs: readonly TypedPair[]
  answers: Answers
  /** The document was derived, and is again after a reload. */
  isDerived: boolean
}>

export const EMPTY_PAIR: TypedPair = { message: '', output: '' }
const NONE = { name: '', messageType: '', outputType: '', pairs: [EMPTY_PAIR], answers: {}, isDerived: false }

/** `isKept`: false if the browser has no room for it. */
export function useGivenExamples(id: string, who: string) {
  const name = `by-example:${id}`
  const [given, setGiven] = useState((): GivenExamples => ({ ...NONE, ...readKept(name, who) }))
  const [isKept, setKept] = useState(true)
  useEffect(() => setKept(keep(name, { ...given, who })), [name, given, who])
  const change = (changes: Partial<GivenExamples>) => setGiven((before) => ({ ...before, ...changes }))
  return { given, change, isKept }
}

/** A pair of the request, and what the page calls it. */
export type NamedExample = Readonly<{ name: string; example: Example }>

/** Recorded messages first. Out: or why they cannot be sent yet. Pairs without a text are left out. */
export function toExamples(
  messageIds: readonly string[],
  { pairs, messageType, outputType }: GivenExamples,
): readonly NamedExample[] | string {
  const recorded = messageIds.map((messageId) => ({ name: `Message ${messageId}`, example: { messageId } }))
  const typed = pairs.map(({ message: body, output }, index) => ({
    name: pairName(index),
    sides: [body, output].filter((text) => text.trim() !== '').length,
    example: {
      message: { body, ...(messageType && { contentType: messageType }) },
      output,
      ...(outputType && { outputType }),
    },
  }))
  const half = typed.find(({ sides }) => sides === 1)
  if (half !== undefined) return `${half.name} has one side only: give the other, or remove the pair.`
  const all = [...recorded, ...typed.filter(({ sides }) => sides === 2)]
  return all.length === 0 ? 'Paste a message and what it becomes first.' : all
}

export const pairName = (index: number): string => `Pair ${index + 1}`

/** The places of faults that have a field. */
export const placesOf = (index: number): readonly string[] =>
  ['message', 'output'].map((side) => `${pairName(index)}: ${side}`)

/** In: a place of the request. Out: as the page calls it, such as `Pair 2: message`. */
export const nameExample = (path: string, names: readonly string[]): string =>
  path.replace(/^examples\[(\d+)\]\.?(.*)$/, (all, index: string, rest: string) => {
    const name = names[Number(index)]
    return name === undefined ? all : [name, rest].filter(Boolean).join(': ')
  })
