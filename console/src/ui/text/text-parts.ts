/** Text split into visible text and marks for invisible characters. */

/** Controls but tab and line feed, bidirectional controls, invisible separators, tags, and halves of surrogate pairs. */
export const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what the console must show
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udfff]|[\u{e0000}-\u{e007f}]/gu

export type TextPart = Readonly<{ text: string; hidden: boolean }>

/** In: a code point. Out: its name, such as `U+202E`. */
export const nameCodePoint = (code: number): string => `U+${code.toString(16).toUpperCase().padStart(4, '0')}`

/** In: any text. Out: its parts in order; a hidden one has the name of its code point. */
export function splitText(text: string): readonly TextPart[] {
  const parts: TextPart[] = []
  let end = 0
  for (const { 0: character, index } of text.matchAll(HIDDEN)) {
    if (index > end) parts.push({ text: text.slice(end, index), hidden: false })
    parts.push({ text: nameCodePoint(character.codePointAt(0) ?? 0), hidden: true })
    end = index + character.length
  }
  if (end < text.length) parts.push({ text: text.slice(end), hidden: false })
  return parts
}
