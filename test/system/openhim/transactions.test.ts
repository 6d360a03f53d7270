/** Messages through a real OpenHIM core: it stores all that its mediator reports, and its clients get the answers themselves. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readTransactions } from '../../../migrate/compare/openhim-transactions.ts'
import { openCore } from '../../../src/app/open-mediator.ts'
import { startService, startUpstream } from '../../support/service.ts'
import { startCore, whyNoCore } from './core/start-core.ts'
import { addChannel, addClient, sendThrough, transactionsOf } from './core/traffic.ts'

const MESSAGES = 1_000

type Orchestration = Readonly<{
  name: string
  request?: Readonly<{ path: string }>
  response?: Readonly<{ status: number }>
}>

const noCore = await whyNoCore()

describe('transactions of a real core', { skip: noCore ?? false }, () => {
  test(`have complete orchestrations: ${MESSAGES} messages`, async () => {
    const core = await startCore()
    const upstream = await startUpstream(({ url }, response) => {
      if (url.startsWith('/empty')) response.writeHead(204).end()
      else if (url.startsWith('/refuses')) response.writeHead(409).end('{"no":"ü"}')
      else return { path: url, word: 'größe' }
      return undefined
    })
    const service = await startService({
      ...core.env,
      MEDIATOR_URN: 'urn:mediator:transactions',
      OPENHIM_CALLERS: '127.0.0.1',
      OPENHIM_ORCHESTRATIONS: 'bodies',
    })
    try {
      const patient = {
        id: 'patient',
        config: {
          method: 'GET',
          url: `${upstream.url}/patients/:id`,
          params: { url: { id: { path: 'requestBody.n' } } },
        },
      }
      await service.register({
        endpoint: { pattern: '/orders' },
        messageKeys: { 'order.number': 'requestBody.n' },
        inputMapping: { 'requestBody.n': 'n', 'lookupRequests.patient.data.word': 'word' },
        requests: {
          lookup: [patient],
          response: [
            {
              id: 'archive',
              forEach: { items: 'requestBody.items' },
              config: {
                method: 'POST',
                url: `${upstream.url}/items/:item`,
                params: { url: { item: { path: 'item' } } },
              },
            },
            { id: 'ledger', config: { method: 'PUT', url: `${upstream.url}/ledger` } },
          ],
        },
      })
      await service.register({
        endpoint: { pattern: '/empty' },
        requests: { response: [{ id: 'send', config: { method: 'POST', url: `${upstream.url}/empty` } }] },
      })
      await service.register({
        endpoint: { pattern: '/refused' },
        requests: { lookup: [{ id: 'look', config: { method: 'GET', url: `${upstream.url}/refuses` } }] },
      })
      await addClient(core)
      await addChannel(core, '^/', service.url)
      const orders = Array.from({ length: MESSAGES - 2 }, (_, n) => ({
        method: 'POST',
        path: '/orders',
        body: JSON.stringify({ n, items: [1, 2] }),
      }))
      const others = ['/empty', '/refused'].map((path) => ({ method: 'POST', path, body: '{}' }))
      const answers = await sendThrough(core, [...orders, ...others])

      const [first] = answers
      assert.equal(first?.status, 200)
      assert.deepEqual(JSON.parse(first?.text ?? ''), {
        archive: [
          { path: '/items/1', word: 'größe' },
          { path: '/items/2', word: 'größe' },
        ],
        ledger: { path: '/ledger', word: 'größe' },
      })
      assert.match(String(first?.headers['content-type']), /^application\/json/)
      assert.match(String(first?.headers['x-crosswalk-message-id']), /^[0-9a-f]{24}$/)
      assert.deepEqual(answers.at(-2), { ...answers.at(-2), status: 204, text: '' })
      assert.equal(answers.at(-1)?.status, 409)

      const transactions = await transactionsOf(core, MESSAGES)
      assert.equal(transactions.length, MESSAGES)
      const counts: Record<string, number> = {}
      for (const { request, response, status, orchestrations, properties } of transactions) {
        const own = (orchestrations as unknown as readonly Orchestration[]).filter(({ name }) => name !== 'Crosswalk')
        const shown = own.map(({ name, response: answer }) => `${name} ${answer?.status}`).sort()
        const line = `${String(request.path)} ${status} ${String(response?.status)}: ${shown.join(', ')}`
        counts[line] = (counts[line] ?? 0) + 1
        if (request.path === '/orders') {
          const { n } = JSON.parse(String(request.body)) as { n: number }
          assert.ok(
            own.some(({ request: sent }) => sent?.path === `/patients/${n}`),
            `the lookup of ${n}`,
          )
          assert.equal((properties as { 'order．number'?: string })['order．number'], String(n))
        }
      }
      assert.deepEqual(counts, {
        '/orders Successful 200: archive[0] 200, archive[1] 200, ledger 200, patient 200': MESSAGES - 2,
        '/empty Successful 204: send 204': 1,
        '/refused Completed 409: look 409': 1,
      })
      const { OPENHIM_URL: url = '', OPENHIM_USERNAME: username = '', OPENHIM_PASSWORD: password = '' } = core.env
      const limits = { timeoutMs: 60_000, answerLimitBytes: 64 * 1024 * 1024 }
      const api = openCore({ url, username, password, openhimTrustSelfSigned: true, ...limits })
      const read = await readTransactions({ fetch: api.transactions, query: new URLSearchParams() }, 250)
      await api.close()
      assert.equal(read.length, 250)
      assert.ok(read.every(({ request, response }) => request.path !== '' && (response.status ?? 0) > 0))
    } finally {
      await service.stop()
      await upstream.stop()
      await core.stop()
    }
  })
})
