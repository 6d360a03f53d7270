/** What this process counts of the schedules that it runs, for the metrics. */
import type { StoredDocument } from '../../core/stored-document.ts'

type Counted = { endpoint: string; runs: Map<string, number>; overruns: number; missed: number }

export class ScheduleCounts {
  readonly #byEndpoint = new Map<string, Counted>()

  addRun(document: StoredDocument, outcome: string): void {
    const { runs } = this.#of(document)
    runs.set(outcome, (runs.get(outcome) ?? 0) + 1)
  }

  addOverruns(document: StoredDocument, count: number): void {
    if (count > 0) this.#of(document).overruns += count
  }

  addMissed(document: StoredDocument, count: number): void {
    if (count > 0) this.#of(document).missed += count
  }

  all(): readonly Readonly<Counted>[] {
    return [...this.#byEndpoint.values()]
  }

  /** Forgets the endpoints that are gone. */
  keep(exists: (endpointId: string) => boolean): void {
    for (const id of this.#byEndpoint.keys()) if (!exists(id)) this.#byEndpoint.delete(id)
  }

  #of({ _id, name }: StoredDocument): Counted {
    const known = this.#byEndpoint.get(_id) ?? { endpoint: name, runs: new Map(), overruns: 0, missed: 0 }
    known.endpoint = name
    this.#byEndpoint.set(_id, known)
    return known
  }
}
