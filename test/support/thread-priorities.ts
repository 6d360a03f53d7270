import { readdirSync, readFileSync } from 'node:fs'

/** Of all threads of this process (proc(5), `stat`), in ascending order. */
export const threadPriorities = (): readonly number[] =>
  readdirSync('/proc/self/task')
    .map((thread) => {
      const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8')
      const [, , ...fields] = stat.slice(stat.lastIndexOf(')')).split(' ')
      return Number(fields[15])
    })
    .toSorted((one, other) => one - other)
