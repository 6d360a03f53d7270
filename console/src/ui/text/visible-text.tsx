/** Text of messages, names and answers, as text: what a reader could not see is shown by its code point. */
import { memo } from 'react'
import { partsOf } from './text-parts.ts'

export type VisibleTextProps = Readonly<{
  text: string
  /** Characters that are shown; the rest is counted. */
  most?: number
}>

/** Within a sentence; its direction does not reach the text around it. */
export const VisibleText = memo(function VisibleText({ text, most = 2_000 }: VisibleTextProps) {
  const shown = text.length > most ? text.slice(0, most) : text
  const parts = partsOf(shown)
  return (
    <bdi>
      {parts.map((part, index) =>
        part.hidden ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text keep their order
          <span key={index} className="hidden-character">
            {part.text}
          </span>
        ) : (
          part.text
        ),
      )}
      {shown.length < text.length && (
        <span className="more-text"> … {(text.length - most).toLocaleString('en')} more characters</span>
      )}
    </bdi>
  )
})
