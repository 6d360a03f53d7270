/** Calls work at each change of a folder, once for changes that come together and never twice at a time. */
import { watch } from 'node:fs'

/** Editors write a file in several steps. */
const TOGETHER_MS = 100

/** Watches until the process ends; a failure of `work` is reported, and the next change tries again. */
export function watchFolder(folder: string, work: () => Promise<void>): void {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  watch(folder, { recursive: true }, () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      running = running.then(work).catch((thrown: Error) => console.error(thrown.message))
    }, TOGETHER_MS)
  })
}
