/** Text of messages, names and answers, as text: what a reader could not see is shown by its code point. */
import { memo } from 'react'
import { splitText } from './text-parts.ts'

export type VisibleTextProps = Readonly<{
  /** Undefined shows a dash. */
  text: string | undefined
  /** A name, a path or a value as it is written: in the font of code. */
  code?: boolean
  /** Characters that are shown; the rest is counted. */
  max?: number
}>

/** The text alone, with what a reader could not see as marks. */
export const TextParts = memo(function TextParts({ text }: Readonly<{ text: string }>) {
  return splitText(text).map((part, index) =>
    part.hidden ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text keep their order
      <span key={index} className="hidden-character">
        {part.text}
      </span>
    ) : (
      part.text
    ),
  )
})

/** Within a sentence; its direction does not reach the text around it. */
export const VisibleText = memo(function VisibleText({ text, code = false, max = 2_000 }: VisibleTextProps) {
  if (text === undefined) return <span className="quiet">–</span>
  if (code)
    return (
      <code>
        <VisibleText text={text} max={max} />
      </code>
    )
  const shown = text.length > max ? text.slice(0, max) : text
  return (
    <bdi>
      <TextParts text={shown} />
      {shown.length < text.length && (
        <span className="quiet"> … {(text.length - max).toLocaleString('en')} more characters</span>
      )}
    </bdi>
  )
})
