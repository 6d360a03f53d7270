/**
 * What the test files of a process share, such as a browser, is closed after the last of them. A hook belongs to the suite in
 * which it is registered, and a file is a suite where several share a process: scripts/testing/run-batch.ts loads this file first.
 */
import { after } from 'node:test'

const closings: (() => Promise<void>)[] = []

after(async () => {
  for (const close of closings) await close()
})

/** `close` runs once, after the last test of this process. */
export const atProcessEnd = (close: () => Promise<void>): void => void closings.push(close)
