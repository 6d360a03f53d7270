/** /endpoints/:id/mapping in a real browser. */
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import type { JsonObject } from '../../src/domain/json.ts'
import { json } from '../service.ts'
import { until } from '../until.ts'
import { NO_BROWSER } from './browser.ts'
import { openConsole } from './console-page.ts'

const MESSAGE = {
  id: 17,
  patient: { family: 'Doe', given: ['Jane', 'Q'], birthDate: '1980-02-03' },
  lines: [
    { nr: 1, code: 'a' },
    { nr: 2, code: 'b' },
  ],
}
const MAPPING = { 'requestBody.id': 'id', 'requestBody.lines[].nr': 'list[].number', 'requestBody.gone': 'gone' }

type Opened = Awaited<ReturnType<typeof openMapping>>

/** An endpoint that has taken one message, open in the mapping view with this message. */
async function openMapping(test: TestContext, inputMapping: JsonObject = MAPPING, body: JsonObject = MESSAGE, view = {}) {
  const opened = await openConsole(test, { env: { MESSAGE_LOG: 'all' }, ...view })
  const { service } = opened
  const { _id: id } = await service.register({ name: 'Orders', endpoint: { pattern: '/orders' }, inputMapping })
  await service.fetch('/orders', json('POST', body))
  const list = async () => (await fetch(`${service.adminUrl}/messages`)).json() as Promise<{ messages: { id: string }[] }>
  const { messages } = await until(list, (now) => now.messages.length > 0)
  const message = messages[0]?.id ?? ''
  await opened.open(`endpoints/${id}/mapping?message=${message}`)
  await opened.page.getByText('ran dry on').waitFor()
  return { ...opened, id, message }
}

/** The mapping as the draft has it, which a reload keeps. */
async function draftOf(page: Page, id: string): Promise<string> {
  const read = () => page.evaluate((name) => sessionStorage.getItem(name), `crosswalk-draft:${id}`)
  const kept = await until(read, (text) => text !== null)
  return (JSON.parse(kept ?? '') as { text: string }).text
}

const source = (page: Page, name: string) =>
  page.getByRole('treegrid', { name: 'Can be read' }).getByRole('row', { name, exact: true })
const target = (page: Page, name: string) =>
  page.getByRole('treegrid', { name: 'Is written' }).getByRole('row', { name, exact: true })

/** Three ways to connect `family` with `code`. */
const BY_HAND: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  'a drag': async (page) => {
    await source(page, 'family').dragTo(target(page, 'code'))
  },
  'a drag by keys': async (page) => {
    await source(page, 'family').click()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await target(page, 'code').and(page.locator('[data-drop-target]')).or(page.locator('[data-drop-target]')).first().waitFor()
    for (let step = 0; step < 10; step += 1) {
      const name = await page.evaluate('document.activeElement?.getAttribute("aria-label") ?? ""')
      if (String(name).includes('code')) break
      await page.keyboard.press('ArrowDown')
    }
    await page.keyboard.press('Enter')
  },
  M: async (page) => {
    await source(page, 'family').click()
    await page.keyboard.press('m')
    await page.getByRole('combobox', { name: 'Target of requestBody.patient.family' }).fill('subject.code')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Connect', exact: true }).click()
  },
}

const SMALL = { 'requestBody.id': 'id', 'requestBody.patient.birthDate': ['subject.code', 'subject.born'] }

describe('/endpoints/:id/mapping', { skip: NO_BROWSER }, () => {
  test('shows fields, lines and coverage of a message', async (test) => {
    const { page, checkAccessibility } = await openMapping(test)
    await source(page, 'birthDate').getByText('1980-02-03').waitFor()
    await page.getByRole('button', { name: /fields not read/ }).waitFor()
    await page.screenshot({ path: '/tmp/map-shot.png' })
    await checkAccessibility()
  })

  describe('a connection', () => {
    const made: string[] = []
    for (const [way, connect] of Object.entries(BY_HAND)) {
      test(`by ${way}`, async (test) => {
        const { page, id } = await openMapping(test, SMALL)
        await connect(page)
        await page.getByRole('region', { name: 'Selected entry' }).waitFor().catch(() => page.screenshot({ path: '/tmp/map-fail.png' }))
        await page.screenshot({ path: '/tmp/map-shot2.png' })
        made.push(await draftOf(page, id))
      })
    }
    test('is the same document in each way', () => {
      assert.equal(made.length, 3)
      assert.match(made[0] ?? '', /"requestBody.patient.family": "subject.code"/)
      assert.deepEqual(new Set(made).size, 1)
    })
  })
})
