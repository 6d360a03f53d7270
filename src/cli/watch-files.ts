/** Work that is done again when one of its files changes. */
import { statSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { Exit, Terminal } from './command.ts'

/** Looking at a file costs little, and editors that replace files, and folders of other machines, send no events. */
const EVERY_MS = 200

/**
 * Never ends by itself. Runs at first, and again after each change; a change while it runs is not lost. Faults are reported, since
 * a file that cannot be used now may be corrected.
 */
export async function watchFiles(
  files: readonly string[],
  terminal: Terminal,
  run: () => Promise<Exit>,
): Promise<never> {
  for (;;) {
    const before = readStamp(files)
    await terminal.run(run)
    while (readStamp(files) === before) await pause(EVERY_MS)
  }
}

/** Differs if one of the files was changed, replaced or removed. */
function readStamp(files: readonly string[]): string {
  const stamps = files.map((file) => {
    const stats = statSync(file, { bigint: true, throwIfNoEntry: false })
    return stats === undefined ? '-' : `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`
  })
  return stamps.join('\n')
}
