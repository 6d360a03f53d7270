/** /messages within its budgets: 100,000 messages, and a body of 10 MB. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { createIds } from '../../../src/core/id.ts'
import type { MessageRecord, Recorded } from '../../../src/core/records/message-record.ts'
import { DATABASES, type Database, openDatabase } from '../../support/databases.ts'
import { startService } from '../../support/service.ts'
import { NO_BROWSER } from '../console/browser.ts'
import { openConsole } from '../console/console-page.ts'
import { send } from '../console/failed-messages.ts'
import { fastest } from './fastest.ts'

const MESSAGES = 100_000
const BATCH = 2_000
const FIRST_LIST_MS = 1_000
const BODY_MS = 500

const DONE = { outcome: 'done', status: 200 } as const
const REFUSED = { outcome: 'refused', status: 400, code: 'VALIDATION_FAILED', stage: 'validate', error: 'No.' } as const

async function fill(database: Database): Promise<void> {
  const { messages, close } = await openDatabase(database)
  const startMs = Date.now() - MESSAGES * 10
  let atMs = startMs
  const newId = createIds(() => atMs, 7)
  for (let made = 0; made < MESSAGES; made += BATCH) {
    const batch = Array.from({ length: BATCH }, (_, index): Recorded => {
      atMs = startMs + (made + index) * 10
      const record: MessageRecord = {
        id: newId(),
        endpointId: '01a1fc905a3a00003facd2e8',
        endpoint: 'Orders',
        endpointVersion: 1,
        source: 'http',
        startedAt: new Date(atMs).toISOString(),
        ms: 3,
        stages: [{ stage: 'parse', ms: 1 }],
        calls: [],
        keys: { order: `L-${made + index}` },
        bodies: [],
        ...(index % 10 === 0 ? REFUSED : DONE),
      }
      return { record, bodies: [] }
    })
    await messages.append(batch)
  }
  await close()
}

const shownAfter = async (page: Page, text: string, act: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now()
  await act()
  await page.getByText(text).first().waitFor()
  return performance.now() - startedAt
}

describe('/messages at scale', { skip: NO_BROWSER }, () => {
  test('shows the first of 100,000 messages within a second, and the next pages as they are asked for', async (test) => {
    const [kind] = DATABASES
    assert.ok(kind)
    const database = await kind.create()
    await fill(database)
    const service = await startService({ DATABASE_URL: database.url })
    test.after(async () => {
      await service.stop()
      await database.drop()
    })
    const { page, open } = await openConsole(test, { of: service })
    await open('endpoints')
    const link = page.getByRole('link', { name: 'Messages', exact: true })
    const firstList = async () => {
      const ms = await shownAfter(page, '50 shown', () => link.click())
      await page.getByRole('link', { name: 'Endpoints', exact: true }).click()
      return ms
    }
    const listMs = await fastest(firstList, FIRST_LIST_MS)
    assert.ok(listMs <= FIRST_LIST_MS, `the first list took ${Math.round(listMs)} ms`)
    await link.click()
    await page.getByRole('button', { name: 'Show more' }).click()
    await page.getByText('100 shown').waitFor()
    const filterMs = await shownAfter(page, '1 in all', async () => {
      await page.getByLabel('Business key').fill('order:L-12345')
      await page.keyboard.press('Enter')
    })
    assert.ok(filterMs <= 5 * FIRST_LIST_MS, `the search took ${Math.round(filterMs)} ms`)
  })

  test('shows the text of a body of 10 MB within half a second, and parses none of it', async (test) => {
    const limits = { PARSER_LIMIT: '16mb', MESSAGE_LOG_BODY_LIMIT: '10mb', MESSAGE_LOG: 'all' }
    const { service, page, open } = await openConsole(test, { env: limits })
    await service.register({ endpoint: { pattern: '/large' }, inputValidation: { required: ['missing'] } })
    const id = await send(service, '/large', { text: 'ä'.repeat(5_000_000) })
    await open(`messages/${id}`)
    const button = page.getByRole('button', { name: 'Incoming body' })
    const openBody = async () => {
      const ms = await shownAfter(page, '65,536 of 5,000,011 characters', () => button.click())
      await button.click()
      await page.getByText('65,536 of 5,000,011 characters').waitFor({ state: 'detached' })
      return ms
    }
    const bodyMs = await fastest(openBody, BODY_MS)
    assert.ok(bodyMs <= BODY_MS, `the text took ${Math.round(bodyMs)} ms`)
    await button.click()
    const text = await page.getByLabel('Incoming body').textContent()
    assert.equal(text, `{"text":"${'ä'.repeat(65_536 - '{"text":"'.length)}`)
  })
})
