import { readdirSync, readFileSync } from 'node:fs'

/** Of all threads of this process (proc(5), `stat`), in ascending order. */
export const threadPriorities = (): readonly number[] =>
  readdirSync('/proc/self/task')
    .flatMap((thread) => {
      const stat = readStat(thread)
      if (stat === undefined) return []
      const [, , ...fields] = stat.slice(stat.lastIndexOf(')')).split(' ')
      return [Number(fields[15])]
    })
    .toSorted((one, other) => one - other)

/** Undefined for a thread that has ended since the list was read. */
function readStat(thread: string): string | undefined {
  try {
    return readFileSync(`/proc/self/task/${thread}/stat`, 'utf8')
  } catch (thrown) {
    if (['ENOENT', 'ESRCH'].includes((thrown as NodeJS.ErrnoException).code ?? '')) return undefined
    throw thrown
  }
}
