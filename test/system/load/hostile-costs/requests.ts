/** Messages that make many or large requests. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type HostileCost, registerAt, send } from './row.ts'

/** An upstream of this process that answers with `body`, and the URL of it. */
async function withUpstream<Result>(body: string, work: (url: string) => Promise<Result>): Promise<Result> {
  const server: Server = createServer((request, response) => {
    request.resume().once('end', () => response.setHeader('content-type', 'application/json').end(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    return await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const items = (count: number) => Array.from({ length: count }, (_, index) => ({ id: index }))

const endpoint = (more: object) => ({
  name: 'hostile',
  endpoint: { pattern: '/hostile' },
  transformation: { input: 'JSON', output: 'JSON' },
  ...more,
})

/** An endpoint with one lookup for each item of the message. */
const eachItem = (url: string, concurrency: number, params: object = {}) =>
  endpoint({
    requests: {
      lookup: [
        { id: 'wards', forEach: { items: 'requestBody.items', concurrency }, config: { method: 'get', url, params } },
      ],
    },
  })

/** A forEach whose every call has a value of the message in its query. */
const longQueries = (kilobytes: number): HostileCost => ({
  group: 'requests',
  name: `1,000 items, each with ${kilobytes} KB of the message in its query`,
  attack: ({ url }) =>
    withUpstream('{}', async (upstream) => {
      const query = { ward: { path: 'requestBody.ward' }, id: { path: 'item.id' } }
      await registerAt(url, eachItem(upstream, 10, { query }))
      return send(`${url}/hostile`, { items: items(1_000), ward: 'ä'.repeat((kilobytes * 1_000) / 2) })
    }),
})

const EMPTY_OBJECTS = JSON.stringify(Array.from({ length: 1_300_000 }, () => ({})))

const manyObjects: HostileCost = {
  group: 'requests',
  name: '100 items whose answers are lists of 1,300,000 empty objects',
  attack: ({ url }) =>
    withUpstream(EMPTY_OBJECTS, async (upstream) => {
      await registerAt(url, eachItem(upstream, 1))
      return send(`${url}/hostile`, { items: items(100) })
    }),
}

const longNames: HostileCost = {
  group: 'requests',
  name: 'a list of 150,000 items below a name of 200 characters, as XML',
  attack: async ({ url }) => {
    await registerAt(url, endpoint({ transformation: { input: 'JSON', output: 'XML' } }))
    return send(`${url}/hostile`, { ['n'.repeat(200)]: Array.from({ length: 150_000 }, () => 1) })
  },
}

const largeAnswers = (count: number, concurrency: number): HostileCost => ({
  group: 'requests',
  name: `${count} items whose answers have 3.9 MB each, ${concurrency} at once`,
  attack: ({ url }) =>
    withUpstream(
      JSON.stringify({ rows: Array.from({ length: 39_000 }, (_, id) => ({ id, text: 'x'.repeat(78) })) }),
      async (upstream) => {
        await registerAt(url, eachItem(upstream, concurrency))
        return send(`${url}/hostile`, { items: items(count) })
      },
    ),
})

const manyStates = (entries: number): HostileCost => ({
  group: 'requests',
  name: `${entries} entries of state.extract for one field of 900 KB`,
  attack: async ({ url }) => {
    const requestBody = Object.fromEntries(Array.from({ length: entries }, (_, index) => [`copy${index}`, 'field']))
    await registerAt(url, endpoint({ state: { extract: { requestBody } }, inputMapping: { 'requestBody.id': 'id' } }))
    return send(`${url}/hostile`, { id: 1, field: 'x'.repeat(900_000) })
  },
})

const manyCopies = (output: 'JSON' | 'XML', copies: number): HostileCost => ({
  group: 'requests',
  name: `an output that holds one field of 900 KB ${copies} times, as ${output}`,
  attack: async ({ url }) => {
    const targets = Array.from({ length: copies }, (_, index) => `copy${index}`)
    await registerAt(
      url,
      endpoint({ transformation: { input: 'JSON', output }, inputMapping: { 'requestBody.field': targets } }),
    )
    return send(`${url}/hostile`, { field: 'x&'.repeat(450_000) })
  },
})

const manyTransforms: HostileCost = {
  group: 'requests',
  name: '40 expressions that each give a text of 8 MB',
  attack: async ({ url }) => {
    const inputTransforms = Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => [`t${at}`, `$pad("${at}", 8000000, requestBody.character)`]),
    )
    await registerAt(url, endpoint({ inputTransforms, inputMapping: { 'requestBody.id': 'id' } }))
    return send(`${url}/hostile`, { id: 1, character: 'x' })
  },
}

const grownOutput: HostileCost = {
  group: 'requests',
  name: 'a field of 20 KB in each of 30,000 elements, by oneToAllElements',
  attack: async ({ url }) => {
    const all = { key: 'list[].text', transform: { function: 'oneToAllElements' } }
    await registerAt(url, endpoint({ inputMapping: { 'requestBody.list[]': 'list[].id', 'requestBody.text': all } }))
    return send(`${url}/hostile`, { list: Array.from({ length: 30_000 }, (_, id) => id), text: 'x'.repeat(20_000) })
  },
}

export const REQUESTS: readonly HostileCost[] = [
  longQueries(60),
  longQueries(1_000),
  largeAnswers(1, 1),
  largeAnswers(100, 1),
  largeAnswers(1_000, 100),
  manyObjects,
  longNames,
  manyTransforms,
  grownOutput,
  manyStates(200),
  manyStates(600),
  manyCopies('JSON', 24),
  manyCopies('JSON', 500),
  manyCopies('XML', 5),
  manyCopies('XML', 500),
]
