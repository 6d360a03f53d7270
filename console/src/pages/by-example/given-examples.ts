/** What is typed on the page of examples: kept for a reload, and sent as a request. */
import { useEffect, useEffectEvent, useState } from 'react'
import type { Answers, Example, ExamplesRequest } from '../../api/by-example-calls.ts'
import { keep, readKept } from '../../draft/kept-drafts.ts'

export type TypedPair = Readonly<{ message: string; output: string }>

/** The types are empty where the texts say by their beginning what they are in. */
export type GivenExamples = Readonly<{
  name: string
  pattern: string | undefined
  messageType: string
  outputType: string
  pairs: readonly TypedPair[]
  answers: Answers
  /** The document was derived, and is again after a reload. */
  isDerived: boolean
}>

export const EMPTY_PAIR: TypedPair = { message: '', output: '' }

export const NO_EXAMPLES: GivenExamples = {
  name: '',
  pattern: undefined,
  messageType: '',
  outputType: '',
  pairs: [EMPTY_PAIR],
  answers: {},
  isDerived: false,
}

const KEPT_AFTER_MS = 300

/** `isKept`: false if the browser has no room for it. */
export function useGivenExamples(id: string, who: string) {
  const name = `by-example:${id}`
  const [given, setGiven] = useState((): GivenExamples => ({ ...NO_EXAMPLES, ...readKept(name, who) }))
  const [isKept, setKept] = useState(true)
  const save = useEffectEvent(() => setKept(keep(name, { ...given, who })))
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change is kept, a moment later
  useEffect(() => {
    const timer = setTimeout(save, KEPT_AFTER_MS)
    return () => clearTimeout(timer)
  }, [given])
  useEffect(() => {
    const leave = () => save()
    addEventListener('pagehide', leave)
    return () => {
      removeEventListener('pagehide', leave)
      leave()
    }
  }, [])
  const change = (changes: Partial<GivenExamples>) => setGiven((before) => ({ ...before, ...changes }))
  return { given, change, isKept }
}

/** A pair of the request, and what the page calls it: those of the log first. */
export type NamedExample = Readonly<{ name: string; example: Example }>

/** Pairs without a text are left out. */
export function toExamples(messageIds: readonly string[], given: GivenExamples): readonly NamedExample[] {
  const { pairs, messageType, outputType } = given
  return [
    ...messageIds.map((messageId) => ({ name: `Message ${messageId}`, example: { messageId } as Example })),
    ...pairs.flatMap(({ message, output }, index) => {
      if (message.trim() === '' && output.trim() === '') return []
      const example: Example = {
        message: { body: message, ...(messageType && { contentType: messageType }) },
        output,
        ...(outputType && { outputType }),
      }
      return [{ name: pairName(index), example }]
    }),
  ]
}

export const pairName = (index: number): string => `Pair ${index + 1}`

/** Why the pairs cannot be sent yet. */
export function findLack(messageIds: readonly string[], { pairs }: GivenExamples): string | undefined {
  const isHalf = ({ message, output }: TypedPair) => (message.trim() === '') !== (output.trim() === '')
  const half = pairs.findIndex(isHalf)
  if (half !== -1) return `${pairName(half)} has one side only: give the other, or remove the pair.`
  const hasPair = messageIds.length > 0 || pairs.some(({ message }) => message.trim() !== '')
  return hasPair ? undefined : 'Paste a message and what it becomes first.'
}

export const toRequest = (
  examples: readonly NamedExample[],
  { name, answers }: GivenExamples,
  pattern: string,
): ExamplesRequest => ({
  examples: examples.map(({ example }) => example),
  answers,
  ...(name.trim() && { name: name.trim() }),
  ...(pattern.trim() && { pattern: pattern.trim() }),
})
