/** A step of a path into a message or an output; language/paths/ reads and writes the texts of paths. */
export type PathStep = Readonly<
  | { kind: 'name'; name: string }
  | { kind: 'index'; index: number }
  /** `[]`: every element. */
  | { kind: 'each' }
  /** `*`: every field. */
  | { kind: 'any' }
>
