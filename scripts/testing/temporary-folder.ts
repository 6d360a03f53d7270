/**
 * Where the tests of `npm test` keep their files: in memory where the machine has room. A store waits for the disk at each
 * commit, and lanes that wait for one disk wait for each other; no test of that run shows what a power failure leaves.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { freemem } from 'node:os'
import { join } from 'node:path'

/** On Linux a file system in memory, which containers often limit to 64 MB. */
const IN_MEMORY = '/dev/shm'
/** Several times what all tests keep at once. */
const ROOM_BYTES = 2 * 1024 ** 3

/**
 * A new folder below `parent` that every user may enter; undefined if there are fewer than `roomBytes` free, there or in memory,
 * or this machine runs no programs from it.
 */
export function makeMemoryFolder(parent = IN_MEMORY, roomBytes = ROOM_BYTES): string | undefined {
  let folder: string | undefined
  try {
    const { bavail, bsize } = statfsSync(parent)
    if (Math.min(bavail * bsize, freemem()) < roomBytes) return undefined
    folder = mkdtempSync(join(parent, 'crosswalk-tests-'))
    // PostgreSQL runs as another user, below it.
    chmodSync(folder, 0o711)
    const program = join(folder, 'program')
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 })
    if (spawnSync(program).status === 0) return folder
  } catch {
    // There is none, or it cannot be written.
  }
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  return undefined
}
