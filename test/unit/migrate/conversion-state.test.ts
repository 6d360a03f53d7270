/** The stored state from which an endpoint continues. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { FoundState } from '../../../migrate/import/found-records.ts'
import type { JsonObject } from '../../../src/core/json.ts'
import { convertSet, endpoint, faultsOf } from './conversion-rig.ts'

const ID = '65f000000000000000000001'
const OTHER = '65f000000000000000000002'

const stored = (createdAt: string, state: JsonObject, endpointId = ID): FoundState => ({
  source: 'states.json',
  endpointId,
  createdAt,
  state,
})

const FIRST = stored('2024-01-01T00:00:00.000Z', {
  query: { page: 1 },
  lookupHttpStatus: 200,
  lookupNetworkError: false,
})
const SECOND = stored('2024-01-02T00:00:00.000Z', {
  query: { page: 2 },
  lookupHttpStatus: 500,
  lookupNetworkError: false,
})
const THIRD = stored('2024-01-03T00:00:00.000Z', { query: { page: 3 }, lookupNetworkError: true })

const CASES: Readonly<
  Record<string, Readonly<{ config?: JsonObject; states: readonly FoundState[]; expect: JsonObject | undefined }>>
> = {
  'the newest, in any order': { states: [SECOND, THIRD, FIRST], expect: THIRD.state },
  'that passes the filter of network errors': {
    config: { networkErrors: 'exclude' },
    states: [FIRST, SECOND, THIRD],
    expect: SECOND.state,
  },
  'of statuses': { config: { includeStatuses: ['2xx', 404] }, states: [FIRST, SECOND, THIRD], expect: FIRST.state },
  'or the newest if none passes': {
    config: { includeStatuses: ['404'] },
    states: [FIRST, SECOND],
    expect: SECOND.state,
  },
  'of this endpoint alone': {
    states: [FIRST, stored('2025-01-01T00:00:00.000Z', { query: { page: 9 } }, OTHER)],
    expect: FIRST.state,
  },
  none: { states: [], expect: undefined },
  'with the known fields, also by their early names': {
    states: [
      stored('2024-01-01T00:00:00.000Z', {
        httpStatus: 201,
        networkError: false,
        system: {
          timestamps: {
            endpointStart: '2024-01-01T01:00:00.5+01:00',
            endpointEnd: null,
            endpointDuration: { milliseconds: 1.5 },
            lookupRequests: { r: { requestStart: '2024-01-01T00:00:00.000Z' }, s: 'nothing' },
          },
          other: 1,
        },
        requestBody: { a: 1 },
        responseBody: { b: 2 },
        query: 'nothing',
        lookupRequests: { c: { d: 3 }, e: 4 },
        colour: 'red',
      }),
    ],
    expect: {
      requestBody: { a: 1 },
      responseBody: { b: 2 },
      lookupRequests: { c: { d: 3 } },
      system: {
        timestamps: {
          endpointStart: '2024-01-01T00:00:00.500Z',
          endpointDuration: { milliseconds: 2 },
          lookupRequests: { r: { requestStart: '2024-01-01T00:00:00.000Z' } },
        },
      },
      lookupHttpStatus: 201,
      lookupNetworkError: false,
    },
  },
}

describe('the state of an imported endpoint', () => {
  for (const [name, { config, states, expect }] of Object.entries(CASES)) {
    test(name, async () => {
      const { documents } = convertSet([endpoint({ _id: ID, ...(config ? { state: { config } } : {}) })], {}, states)
      assert.deepEqual(documents[0]?.state, expect)
      assert.deepEqual(await faultsOf(documents), [[]])
    })
  }
})
