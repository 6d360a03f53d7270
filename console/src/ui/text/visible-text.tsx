/** Text of messages, names and answers, as text: what a reader could not see is shown by its code point. */
import { memo } from 'react'
import { splitText } from './text-parts.ts'

export type VisibleTextProps = Readonly<{
  /** Undefined shows a dash. */
  text: string | undefined
  /** A name, a path or a value as it is written: in the font of code. */
  code?: boolean
  /** The element around it, if it has one of its own. */
  as?: 'code' | 'div' | 'h2' | 'h3' | 'legend' | 'li' | 'p' | 'span' | 'strong'
  className?: string
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
export const VisibleText = memo(function VisibleText({ text, code, as, className, max = 2_000 }: VisibleTextProps) {
  const shown = text?.slice(0, max) ?? ''
  const more = (text?.length ?? 0) - shown.length
  const parts =
    text === undefined ? (
      <span className="quiet">–</span>
    ) : (
      <bdi>
        <TextParts text={shown} />
        {more > 0 && <span className="quiet"> … {more.toLocaleString('en')} more characters</span>}
      </bdi>
    )
  const Around = as ?? (code && text !== undefined ? 'code' : undefined)
  return Around === undefined ? parts : <Around className={className}>{parts}</Around>
})
