/** What reading a source gives, and how large a source may be. */
import type { JsonObject } from '../../domain/json.ts'
import type { FoundDocument, FoundState } from '../found-document.ts'

/** A file or value that is no part of the import. `reason` is one sentence. */
export type SkippedSource = Readonly<{ source: string; reason: string }>

export type SourceReading = Readonly<{
  documents: readonly FoundDocument[]
  states: readonly FoundState[]
  /** States of documents that an earlier import wrote, in the form of this service, by the source of the document. */
  ownStates: ReadonlyMap<string, JsonObject>
  skipped: readonly SkippedSource[]
  /** Sentences, each naming its source. With a fault nothing is imported. */
  faults: readonly string[]
}>

export const NOTHING_READ: SourceReading = {
  documents: [],
  states: [],
  ownStates: new Map(),
  skipped: [],
  faults: [],
}

export const faultyReading = (fault: string): SourceReading => ({ ...NOTHING_READ, faults: [fault] })

export const skippedReading = (source: string, reason: string): SourceReading => ({
  ...NOTHING_READ,
  skipped: [{ source, reason }],
})

/** All readings as one, in their order. */
export const joinReadings = (readings: readonly SourceReading[]): SourceReading => ({
  documents: readings.flatMap(({ documents }) => documents),
  states: readings.flatMap(({ states }) => states),
  ownStates: new Map(readings.flatMap(({ ownStates }) => [...ownStates])),
  skipped: readings.flatMap(({ skipped }) => skipped),
  faults: readings.flatMap(({ faults }) => faults),
})

/** The most bytes of one file or answer: an export of a thousand endpoints has about 20 MB. */
export const MOST_SOURCE_BYTES = 100 * 1024 * 1024
export const TOO_LARGE = 'it has more than 100 MB; divide it into several files'
