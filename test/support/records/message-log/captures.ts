/** Calls on captures, and what the message log has of an endpoint, for tests of captures. */
import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import type { MessageRecord } from '../../../../src/core/records/message-record.ts'
import type { CaptureView } from '../../../../src/records/message-log/captures.ts'
import { call } from '../../inbound/http/management/call.ts'

type Reply = Readonly<{ status: number; body: JsonObject }>

export const capturesOf = (adminUrl: string, headers: Readonly<Record<string, string>> = {}) => {
  const ask = async (method: string, path: string, body?: Json): Promise<Reply> => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const reply = await call(adminUrl, method, path, {
      headers: { 'content-type': 'application/json', ...headers },
      ...sent,
    })
    return { status: reply.status, body: reply.json() }
  }
  const list = async (query: string): Promise<readonly MessageRecord[]> => {
    const { status, body } = await ask('GET', `/messages?limit=500&${query}`)
    assert.equal(status, 200, JSON.stringify(body))
    return body.messages as unknown as MessageRecord[]
  }
  return {
    ask,
    list,
    on: (endpointId: string) => {
      const path = `/endpoints/${endpointId}/capture`
      return {
        start: async (given: Json): Promise<CaptureView> => {
          const { status, body } = await ask('POST', path, given)
          assert.equal(status, 201, JSON.stringify(body))
          return body as unknown as CaptureView
        },
        get: async (): Promise<CaptureView> => (await ask('GET', path)).body as unknown as CaptureView,
        call: (method: string, body?: Json) => ask(method, path, body),
        /** Oldest first. */
        recorded: async () => (await list(`endpoint=${endpointId}`)).toReversed(),
        captured: async () => (await list(`endpoint=${endpointId}&captured=true`)).toReversed(),
      }
    },
  }
}

export const namesOf = ({ bodies }: MessageRecord): readonly string[] => bodies.map(({ which }) => which)
