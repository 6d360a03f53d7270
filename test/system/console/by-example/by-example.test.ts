/** /endpoints/by-example: from pasted pairs, or recorded messages, to a published document with its tests. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { Service } from '../../../support/service.ts'
import { NO_BROWSER } from '../browser.ts'
import { openConsole } from '../console-page.ts'
import { tabTo } from '../editor-page.ts'

/** The name of the sender stands at two places. */
const PAIRS: readonly (readonly [message: string, output: string])[] = [
  ['<lab id="4711"><from>North Lab</from><by>North Lab</by></lab>', '{ "id": "4711", "source": "North Lab" }'],
  ['<lab id="952"><from>City Lab</from><by>City Lab</by></lab>', '{ "id": "952", "source": "City Lab" }'],
  ['<lab id="12"><from>Harbour</from><by>Harbour</by></lab>', '{ "id": "12", "source": "Harbour" }'],
]

const side = (page: Page, pair: number, label: string) =>
  page.getByRole('group', { name: `Pair ${pair}`, exact: true }).getByLabel(label)

async function paste(page: Page, pairs: readonly (readonly [message: string, output: string])[]): Promise<void> {
  for (const [index, [message, output]] of pairs.entries()) {
    if (index > 0) await page.getByRole('button', { name: 'Add a pair' }).click()
    await side(page, index + 1, 'Message as sent').fill(message)
    await side(page, index + 1, 'What it becomes').fill(output)
  }
}

const derive = (page: Page) => page.getByRole('button', { name: 'Derive the document' }).click()
const question = (page: Page, target: string) =>
  page.getByRole('group', { name: `Question about ${target}`, exact: true })
const send = async (service: Service, path: string, body: string) =>
  (await service.fetch(path, { method: 'POST', headers: { 'content-type': 'application/xml' }, body })).json()

describe('a document by example', { skip: NO_BROWSER }, () => {
  test('comes from pasted pairs: a question is answered by a click, and the draft is published with its tests', async (t) => {
    const { service, page, open, checkAccessibility } = await openConsole(t)
    await open('endpoints')
    await page.getByRole('button', { name: 'By example …' }).click()
    await page.waitForURL(/endpoints\/by-example/)
    await page.getByLabel('Name', { exact: true }).fill('Lab reports')
    await paste(page, PAIRS)
    await checkAccessibility()
    await page.reload()
    assert.equal(await side(page, 3, 'What it becomes').inputValue(), PAIRS[2]?.[1])
    await derive(page)
    await question(page, 'source').waitFor()
    await checkAccessibility()
    await page.reload()
    await question(page, 'source').getByText('Pair 1: "North Lab"').waitFor()
    const choice = question(page, 'source').getByRole('button', { name: 'It is requestBody.by' })
    await tabTo(page, choice)
    await page.keyboard.press('Enter')
    await page.getByText('The pairs decide everything that they have.').waitFor()
    await page.getByText('source is requestBody.by').waitFor()
    await page.getByRole('button', { name: 'Open in the editor' }).click()
    await page.getByRole('heading', { name: 'Lab reports', level: 1 }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Publish …' }).click()
    const dialog = page.getByRole('dialog', { name: 'Publish a new endpoint' })
    await dialog.getByText('3 passed, 0 failed').waitFor()
    await checkAccessibility()
    await dialog.getByRole('button', { name: 'Publish', exact: true }).click()
    await page.waitForURL(/endpoints\/[0-9a-f]{24}\/edit/)
    const body = '<lab id="7"><from>Sent on by</from><by>West Lab</by></lab>'
    assert.deepEqual(await send(service, '/lab-reports', body), { id: '7', source: 'West Lab' })
    const [, id] = /endpoints\/([0-9a-f]{24})/.exec(page.url()) ?? []
    const { tests } = (await (await service.fetch(`/endpoints/${id}/tests`)).json()) as { tests: readonly object[] }
    assert.equal(tests.length, 3)
  })
})
