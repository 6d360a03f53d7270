/** Which programs a process has compiled: those that it was asked for last. */
import type { Program } from '../pipeline/sandbox.ts'

export type ProgramCache = Readonly<{
  /** What a question must bring: the program where it is new there, and those that make room for it. */
  introduce(owner: Introduced): Readonly<{ program: Program | undefined; forget: readonly number[] }>
}>

type Introduced = Readonly<{ id: number; size: number; program: Program }>

/** Characters of the texts of all: compiled, they may take a hundred times as much. */
const MOST_CHARACTERS = 500_000
const MOST_PROGRAMS = 500

export function programCache(): ProgramCache {
  const sizes = new Map<number, number>()
  let characters = 0
  return {
    introduce: ({ id, size, program }) => {
      const isNew = !sizes.delete(id)
      if (isNew) characters += size
      sizes.set(id, size)
      const forget: number[] = []
      for (const [oldest, its] of sizes) {
        if (oldest === id || (characters <= MOST_CHARACTERS && sizes.size <= MOST_PROGRAMS)) break
        sizes.delete(oldest)
        characters -= its
        forget.push(oldest)
      }
      return { program: isNew ? program : undefined, forget }
    },
  }
}
