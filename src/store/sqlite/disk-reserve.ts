/**
 * The space that the message log leaves to the store, which is on the same disk: endpoints, state and idempotency matter more
 * than records of messages. Below the reserve the oldest records are removed, below half of it no new one is stored.
 */
import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { StoreUnavailable } from '../../domain/ports/store-port.ts'

export type DiskReserve = Readonly<{
  /** How many bytes are missing of the reserve; 0 or less if none is. */
  missingBytes(): number
  /** Throws StoreUnavailable if half of the reserve is used. */
  demandSpace(): void
}>

const DEFAULT_BYTES = 256 * 1024 * 1024
/** Of the file system, if that is less. */
const DEFAULT_SHARE = 1 / 10

/** A look takes some microseconds, and a batch is written some ten times in a second. */
const LOOK_EVERY_MS = 250

export function watchDisk(path: string, reserveBytes: number | undefined): DiskReserve {
  let lookedAt = Number.NEGATIVE_INFINITY
  let missing = 0
  let reserve = 0
  const look = (): void => {
    if (path === ':memory:' || performance.now() - lookedAt < LOOK_EVERY_MS) return
    lookedAt = performance.now()
    const { bavail, blocks, bsize } = statfsSync(dirname(path))
    reserve = reserveBytes ?? Math.min(DEFAULT_BYTES, blocks * bsize * DEFAULT_SHARE)
    missing = reserve - bavail * bsize
  }
  return {
    missingBytes: () => {
      look()
      return missing
    },
    demandSpace: () => {
      look()
      if (missing <= reserve / 2) return
      throw new StoreUnavailable(
        'The disk has less free space than the message log leaves to the store (MESSAGE_LOG_DISK_RESERVE_MB); free some space.',
      )
    },
  }
}
