/** A first document from a name and a sample message, and storing it. */
import { ApiFailure, type FailureDetail } from '../api-failure.ts'
import { api, readData, type Schemas } from '../client.ts'
import { createDocument } from '../document-calls.ts'
import { changeTests } from '../run-calls.ts'

export type EndpointDraft = Schemas['EndpointDraft']
export type DraftRequest = Schemas['DraftRequest']
export type DraftFormat = NonNullable<DraftRequest['format']>

const refusedFor = (details: readonly FailureDetail[]): ApiFailure =>
  new ApiFailure('The endpoint cannot be created as it is.', { status: 409, details })

/** Fails with an ApiFailure, also if the name or the route is taken. */
export async function draftEndpoint(request: DraftRequest): Promise<EndpointDraft> {
  const draft = await readData(api.POST('/endpoints/draft', { body: request })).catch((thrown: unknown) => {
    // The sentence of the service is about suggestions, which the user did not ask for.
    if (thrown instanceof ApiFailure && thrown.code === 'SUGGESTION_INVALID') throw refusedFor(thrown.details)
    throw thrown
  })
  if (draft.faults.length === 0) return draft
  throw refusedFor(draft.faults)
}

/** Out: the id of the endpoint, and the name of its test if the sample is kept. Fails with an ApiFailure. */
export async function createFromDraft(
  { document, test }: EndpointDraft,
  isKept: boolean,
): Promise<Readonly<{ id: string; test?: string }>> {
  const { data } = await createDocument(JSON.stringify(document), {})
  const id = data._id
  if (id === undefined) throw new TypeError('The service gave no id for the new endpoint.')
  if (!isKept || test === undefined) return { id }
  await changeTests(id, (file) => ({ ...file, tests: [test as never] }))
  return { id, test: test.name }
}
