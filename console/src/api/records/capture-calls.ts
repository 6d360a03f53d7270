/** Captures: the next messages of an endpoint, recorded with all bodies. */
import { api, readData, type Schemas } from '../client.ts'

export type Capture = Schemas['Capture']

const of = (id: string) => ({ params: { path: { id } } })

/** Starts one in place of the one before; the service says until when. Fails with an ApiFailure. */
export const startCapture = (id: string, messages: number): Promise<Capture> =>
  readData(api.POST('/endpoints/{id}/capture', { ...of(id), body: { messages } }))

/** Fails with an ApiFailure. */
export const stopCapture = (id: string) => readData(api.DELETE('/endpoints/{id}/capture', of(id)))
