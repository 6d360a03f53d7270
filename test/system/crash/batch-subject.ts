/** A service whose endpoints are changed by batches alone: after a kill, all of them are of one batch. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { JsonObject } from '../../../src/core/json.ts'
import { endpointDocument, json, type StoredEndpoint, startService } from '../../support/service.ts'
import { assertSound } from '../../support/store/folder.ts'
import type { CrashSubject } from './crash-rounds.ts'

const CHILD = fileURLToPath(new URL('./batch-crash-child.ts', import.meta.url))

/** The register of the newest batch. */
export const BATCHES = 'batches'

/** One of the `count` endpoints of a batch. */
export const batchDocument = (number: number, place: number, count: number): JsonObject =>
  endpointDocument({
    name: `place ${place}`,
    endpoint: { pattern: `/place/${place}` },
    constants: { number, count, payload: 'p'.repeat(2_000) },
    inputMapping: { 'constants.number': 'number' },
  })

export const numberOf = ({ constants }: StoredEndpoint): number => Number((constants as JsonObject).number)

export function compileBatchSubject(folder: string): CrashSubject {
  return {
    command: (seed) => [CHILD, folder, `${seed}`],
    async inspect() {
      assertSound(join(folder, 'test.db'))
      const service = await startService({}, folder)
      const documents = (await service.fetch('/endpoints')).json<StoredEndpoint[]>()
      const faults: string[] = []
      const numbers = new Set(documents.map(numberOf))
      const counts = new Set(documents.map(({ constants }) => Number((constants as JsonObject).count)))
      if (numbers.size > 1) faults.push(`the endpoints are of the batches ${[...numbers].join(', ')}`)
      if (documents.length > 0 && !(counts.size === 1 && counts.has(documents.length)))
        faults.push(`there are ${documents.length} endpoints of ${[...counts].join(', ')}`)
      for (const place of documents.keys()) {
        const { number } = (await service.fetch(`/place/${place}`, json('POST', {}))).json()
        if (!numbers.has(Number(number))) faults.push(`/place/${place} is answered by ${number}`)
      }
      await service.stop()
      const [number] = numbers
      return { found: new Map(number === undefined ? [] : [[BATCHES, `${number}`]]), faults }
    },
  }
}
