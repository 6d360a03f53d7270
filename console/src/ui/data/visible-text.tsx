/** Text of messages, names and answers, as text: what a reader could not see is shown by its code point. */
import { memo } from 'react'

/** Controls but tab and line feed, bidirectional controls, invisible separators, tags, and halves of surrogate pairs. */
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what the console must show
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udfff]|[\u{e0000}-\u{e007f}]/gu

export type TextPart = Readonly<{ text: string; hidden: boolean }>

const nameOf = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`

/** In: any text. Out: its parts in order; a hidden one has the name of its code point. */
export function partsOf(text: string): readonly TextPart[] {
  const parts: TextPart[] = []
  let end = 0
  for (const { 0: character, index } of text.matchAll(HIDDEN)) {
    if (index > end) parts.push({ text: text.slice(end, index), hidden: false })
    parts.push({ text: nameOf(character), hidden: true })
    end = index + character.length
  }
  if (end < text.length) parts.push({ text: text.slice(end), hidden: false })
  return parts
}

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
