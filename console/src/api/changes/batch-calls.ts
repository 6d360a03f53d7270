/** Many documents at once: all of them, or none. They are sent as the text that they have. */
import { api, jsonText, readAnswer, type Schemas } from '../client.ts'

export type BatchOutcome = Readonly<{ results: readonly Schemas['OperationResult'][]; dryRun: boolean }>

/** `document`: as text. `ifMatch`: replaces only the document that has this ETag. */
export type ImportOperation = Readonly<{ op: 'create' | 'replace'; id?: string; ifMatch?: string; document: string }>

/** `dryRun`: checks everything and stores nothing. Fails with an ApiFailure, whose details have the faults of each operation. */
export async function sendBatch(
  operations: readonly ImportOperation[],
  dryRun: boolean,
  note = '',
): Promise<BatchOutcome> {
  const parts = operations.map(
    ({ document, ...others }) => `{${JSON.stringify(others).slice(1, -1)},"document":${document}}`,
  )
  const body = `{"dryRun":${dryRun},"note":${JSON.stringify(note)},"operations":[${parts.join(',')}]}`
  const { data } = await readAnswer(
    api.POST('/endpoints/batch', {
      ...jsonText(body),
    }),
  )
  return data as BatchOutcome
}
