/**
 * Reads the brokers' answer for each partition of a batch. The client rejects the whole batch if one partition failed;
 * but the records of the other partitions are written: they must not be reported as failed, nor be sent again.
 */
import { ProtocolError } from '@platformatic/kafka'

type ProduceVerdicts = Readonly<{
  /** Offset of the first record of the batch, by acknowledged partition. */
  offsets: ReadonlyMap<number, bigint>
  /** The last error of each partition that failed. */
  errors: ReadonlyMap<number, Error>
}>

/** The fields of the client's errors, all optional: each attempt and each broker has an error of its own. */
type ProduceFault = Readonly<{
  cause?: unknown
  errors?: unknown
  produced?: { offsets?: readonly Readonly<{ partition: number; offset: bigint }>[] }
  response?: { responses?: readonly Readonly<{ partitionResponses?: readonly PartitionResponse[] }>[] }
}>
type PartitionResponse = Readonly<{
  index: number
  errorCode: number
  baseOffset: bigint
  errorMessage?: string | null
}>

/** Reads the verdicts from the error of a batch for one topic. */
export function readVerdicts(error: unknown): ProduceVerdicts {
  const offsets = new Map<number, bigint>()
  const errors = new Map<number, Error>()
  for (const { produced, response } of faultsIn(error)) {
    for (const { partition, offset } of produced?.offsets ?? []) offsets.set(partition, offset)
    const partitions = response?.responses?.flatMap(({ partitionResponses = [] }) => partitionResponses) ?? []
    for (const { index, errorCode, baseOffset, errorMessage } of partitions) {
      if (errorCode === 0) offsets.set(index, baseOffset)
      else errors.set(index, new ProtocolError(errorCode, errorMessage ?? null))
    }
  }
  return { offsets, errors }
}

function faultsIn(error: unknown): ProduceFault[] {
  if (typeof error !== 'object' || error === null) return []
  const fault: ProduceFault = error
  const inner = [fault.cause, ...(Array.isArray(fault.errors) ? fault.errors : [])]
  return [fault, ...inner.flatMap(faultsIn)]
}
