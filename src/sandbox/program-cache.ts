/** Which programs a process keeps compiled: the least recently used ones are dropped. */
import type { Program } from '../pipeline/sandbox.ts'
import type { IsolationRequest } from './isolation-protocol.ts'

export type ProgramCache = Readonly<{
  /** Marks a program as used. Out: the program, if the process does not have it, and the programs to drop for it. */
  add(owner: Readonly<{ id: number; size: number; program: Program }>): Pick<IsolationRequest, 'program' | 'forget'>
}>

/** Characters of all programs; compiled, they may take a hundred times as much. */
const MOST_CHARACTERS = 500_000
const MOST_PROGRAMS = 500

export function createProgramCache(): ProgramCache {
  const sizes = new Map<number, number>()
  let characters = 0
  return {
    add: ({ id, size, program }) => {
      const isNew = !sizes.delete(id)
      if (isNew) characters += size
      sizes.set(id, size)
      const forget: number[] = []
      for (const [oldest, oldestSize] of sizes) {
        if (oldest === id || (characters <= MOST_CHARACTERS && sizes.size <= MOST_PROGRAMS)) break
        sizes.delete(oldest)
        characters -= oldestSize
        forget.push(oldest)
      }
      return { program: isNew ? program : undefined, forget }
    },
  }
}
