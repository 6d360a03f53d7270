/** A word of docs/glossary.md. `links`: pages of the guide, such as `replay` and `console#replays`. */
export type GlossaryRow = Readonly<{
  word: string
  means: string
  links: readonly Readonly<{ to: string; text: string }>[]
}>
