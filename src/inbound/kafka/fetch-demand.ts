/**
 * Backpressure: how much may be fetched while earlier records wait to be processed. The endpoints share the bytes that their
 * records may take in memory, and so do the partitions of an endpoint: one whose target does not answer must not stop others.
 */
import type { FetchDemand } from '../../core/ports/record-consumer.ts'
import type { PartitionQueue } from './partition-queue.ts'

type Queues = ReadonlyMap<number, Pick<PartitionQueue, 'bufferedBytes' | 'waitingBytes'>>

/** The bytes of all records of this process that are fetched and not done. */
export interface FetchBudget {
  /** For one more endpoint; `onRoom` is called when others have left room of which it was refused some. */
  open(onRoom: () => void): FetchShare
}

export interface FetchShare {
  /** How much of the endpoint's partitions may be fetched now; at least one small fetch while it holds no record. */
  demand(queues: Queues): FetchDemand
  close(): void
}

const MOST_PARTITION_BYTES = 256 * 1024
const LEAST_BYTES = 32 * 1024
const FETCH_BYTES = 2 * 1024 * 1024

export const NO_DEMAND: FetchDemand = { maxBytes: FETCH_BYTES, partitionBytes: new Map() }

/**
 * One endpoint alone may hold all of `limitBytes`. Of several, each may hold as much as it leaves free, so that one that comes
 * later finds room. Since all may fetch at the same time, one fetch brings at most an equal part of what is free.
 */
export function createFetchBudget(limitBytes: number): FetchBudget {
  const shares = new Set<{ heldBytes: number; isRefused: boolean; onRoom: () => void }>()
  let heldBytes = 0

  return {
    open: (onRoom) => {
      const share = { heldBytes: 0, isRefused: false, onRoom }
      shares.add(share)
      const hold = (bytes: number) => {
        const freedBytes = share.heldBytes - bytes
        heldBytes -= freedBytes
        share.heldBytes = bytes
        if (freedBytes <= 0) return
        for (const other of shares) {
          if (!other.isRefused || other === share) continue
          other.isRefused = false
          other.onRoom()
        }
      }
      return {
        demand: (queues) => {
          hold(bufferedIn(queues))
          const ownBytes = limitBytes - heldBytes + share.heldBytes
          const mostBytes = shares.size === 1 ? ownBytes : Math.floor(ownBytes / 2)
          const fetchBytes = Math.floor((limitBytes - heldBytes) / shares.size)
          const { demand, isRefused } = demandOf(queues, share.heldBytes, mostBytes, within(FETCH_BYTES, fetchBytes))
          share.isRefused = isRefused
          return demand
        },
        close: () => {
          hold(0)
          shares.delete(share)
        },
      }
    },
  }
}

function bufferedIn(queues: Queues): number {
  let bytes = 0
  for (const { bufferedBytes } of queues.values()) bytes += bufferedBytes
  return bytes
}

/**
 * In: what the endpoint holds, and may hold. A partition fetches while few of its records wait to start; the others may hold its
 * equal share, so that it leaves the shares of other partitions alone. `isRefused`: more would be fetched if more were free.
 */
function demandOf(
  queues: Queues,
  heldBytes: number,
  mostBytes: number,
  fetchBytes: number,
): Readonly<{ demand: FetchDemand; isRefused: boolean }> {
  if (heldBytes > 0 && heldBytes >= mostBytes) return { demand: NO_DEMAND, isRefused: true }
  const share = Math.floor(mostBytes / Math.max(queues.size, 1))
  const partitionBytes = within(MOST_PARTITION_BYTES, share, fetchBytes)
  const room = new Map<number, number>()
  let isRefused = false
  for (const [partition, { bufferedBytes, waitingBytes }] of queues) {
    const hasShare = bufferedBytes < Math.max(share, partitionBytes)
    if (!hasShare) isRefused = true
    else if (waitingBytes < partitionBytes / 2) room.set(partition, partitionBytes)
  }
  return { demand: { maxBytes: fetchBytes, partitionBytes: room }, isRefused }
}

const within = (...bytes: readonly number[]): number => Math.max(LEAST_BYTES, Math.min(...bytes))
