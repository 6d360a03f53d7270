/** Texts of messages and documents, as they may be written to a terminal. */

/** Control characters would move the cursor of a terminal, colour it, or end the line of a table. */
export const printable = (text: string): string =>
  text.replace(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
