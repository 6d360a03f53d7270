/** /endpoints/by-example: from pasted pairs, or recorded messages, to a published document with its tests. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { json, type Service } from '../../../support/service.ts'
import { NO_BROWSER } from '../browser.ts'
import { openConsole } from '../console-page.ts'
import { documentEditor, hasFocus, tabTo } from '../editor-page.ts'

type Pairs = readonly (readonly [message: string, output: string])[]

/** The name of the sender stands at two places. */
const LABS: Pairs = [
  ['<lab id="4711"><from>North Lab</from><by>North Lab</by></lab>', '{ "id": "4711", "source": "North Lab" }'],
  ['<lab id="952"><from>City Lab</from><by>City Lab</by></lab>', '{ "id": "952", "source": "City Lab" }'],
  ['<lab id="12"><from>Harbour</from><by>Harbour</by></lab>', '{ "id": "12", "source": "Harbour" }'],
]

/** Codes that are enough for a table, each twice. */
const CODES: Pairs = Array.from({ length: 24 }, (_, at) => at).flatMap((at) =>
  [1, 2].map((time) => [
    `{ "code": "C${at}", "nr": ${at * 91 + time} }`,
    `{ "name": "N ${at}", "nr": ${at * 91 + time} }`,
  ]),
) as unknown as Pairs

const side = (page: Page, pair: number, label: string) =>
  page.getByRole('group', { name: `Pair ${pair}`, exact: true }).getByLabel(label)

async function paste(page: Page, pairs: Pairs): Promise<void> {
  for (const [index, [message, output]] of pairs.entries()) {
    if (index > 0) await page.getByRole('button', { name: 'Add a pair' }).click()
    await side(page, index + 1, 'Message as sent').fill(message)
    await side(page, index + 1, 'What it becomes').fill(output)
  }
}

const derive = (page: Page) => page.getByRole('button', { name: 'Derive the document' })
const openDraft = (page: Page) => page.getByRole('button', { name: 'Open in the editor' })
const question = (page: Page, target: string) =>
  page
    .getByRole('row')
    .filter({ hasText: 'question' })
    .filter({ has: page.getByRole('rowheader', { name: target }) })
const send = async (service: Service, path: string, type: string, body: string) =>
  (await service.fetch(path, { method: 'POST', headers: { 'content-type': type }, body })).json()

/** Publishes the draft that is open in the editor. */
async function publish(page: Page, title: string, tests: RegExp): Promise<void> {
  await page.getByRole('button', { name: 'Publish …' }).click()
  const dialog = page.getByRole('dialog', { name: title })
  await dialog.getByText(tests).waitFor()
  await dialog.getByRole('button', { name: 'Publish', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
}

async function storedTests(service: Service, page: Page): Promise<number> {
  await page.waitForURL(/endpoints\/[0-9a-f]{24}\/edit/)
  const [, id] = /endpoints\/([0-9a-f]{24})/.exec(page.url()) ?? []
  const { tests } = (await (await service.fetch(`/endpoints/${id}/tests`)).json()) as { tests: readonly object[] }
  return tests.length
}

describe('a document by example', { skip: NO_BROWSER }, () => {
  test('comes from pasted pairs: a question is answered by a click, and the draft is published with its tests', async (t) => {
    const { service, page, open, checkAccessibility } = await openConsole(t)
    await open('endpoints')
    await page.getByRole('button', { name: 'By example …' }).click()
    await page.waitForURL(/endpoints\/by-example/)
    await page.getByLabel('Name', { exact: true }).fill('Lab reports')
    await paste(page, LABS)
    await checkAccessibility()
    await page.reload()
    assert.equal(await side(page, 3, 'What it becomes').inputValue(), LABS[2]?.[1])
    await derive(page).click()
    await question(page, 'source').waitFor()
    await checkAccessibility()
    await page.reload()
    await question(page, 'source').getByText('Pair 1: "North Lab"').waitFor()
    await derive(page).focus()
    await tabTo(page, question(page, 'source').getByRole('button', { name: 'Use requestBody.by for source' }))
    await page.keyboard.press('Enter')
    await page.getByText('your answer').waitFor()
    assert.ok(await hasFocus(page.getByRole('heading', { name: 'What was found' })))
    assert.equal(await question(page, 'source').count(), 0)
    await page.getByRole('button', { name: 'Ask about source again' }).click()
    await question(page, 'source').getByRole('button', { name: 'Use requestBody.by for source' }).click()
    await page.getByText('your answer').waitFor()
    await openDraft(page).click()
    await page.getByRole('heading', { name: 'Lab reports', level: 1 }).waitFor()
    await page.reload()
    await publish(page, 'Publish a new endpoint', /3 passed, 0 failed/)
    assert.equal(await storedTests(service, page), 3)
    const body = '<lab id="7"><from>Sent on by</from><by>West Lab</by></lab>'
    const answer = await send(service, '/lab-reports', 'application/xml', body)
    assert.deepEqual(answer, { id: '7', source: 'West Lab' })
    await open('endpoints/by-example')
    assert.equal(await side(page, 1, 'Message as sent').inputValue(), '')
  })

  test('names the pair that cannot be read, and keeps the answers that still hold', async (t) => {
    const { page, open, checkAccessibility } = await openConsole(t, { colorScheme: 'dark' })
    await open('endpoints/by-example')
    await side(page, 1, 'Message as sent').fill('{ "a": 1 }')
    await page.getByText('Pair 1 has one side only').first().waitFor({ state: 'attached' })
    await paste(page, [['<lab', '{}'], ...LABS.slice(1, 2), ['<lab', '{']])
    await derive(page).click()
    const faultOf = (pair: string) => page.getByRole('group', { name: pair, exact: true }).locator('.fault')
    await faultOf('Pair 1').waitFor()
    assert.equal(await faultOf('Pair 3').count(), 2)
    await page.getByText('Change what is marked at the pairs.').waitFor()
    assert.equal(await page.getByText('SUGGESTION_INVALID').count(), 0)
    await checkAccessibility()
    await side(page, 1, 'Message as sent').fill(LABS[0]?.[0] ?? '')
    await side(page, 1, 'What it becomes').fill(LABS[0]?.[1] ?? '')
    await side(page, 3, 'Message as sent').fill(LABS[2]?.[0] ?? '')
    await side(page, 3, 'What it becomes').fill(LABS[2]?.[1] ?? '')
    await derive(page).click()
    await question(page, 'source').getByRole('button', { name: 'Use requestBody.by for source' }).click()
    await page.getByText('your answer').waitFor()
    await page.getByRole('button', { name: 'Add a pair' }).click()
    await side(page, 4, 'Message as sent').fill('<lab id="5"><from>East Lab</from><by>West Lab</by></lab>')
    await side(page, 4, 'What it becomes').fill('{ "id": "5", "source": "East Lab" }')
    await page.getByText('out of date').waitFor()
    assert.equal(await openDraft(page).getAttribute('aria-disabled'), 'true')
    await derive(page).click()
    await page.getByText('out of date').waitFor({ state: 'detached' })
    await page.getByText('Answer again: source').waitFor()
    await page.getByText('your answer').waitFor({ state: 'detached' })
  })

  test('tells CSV by its lines, and keeps what a question has', async (t) => {
    const { page, open } = await openConsole(t)
    await open('endpoints/by-example')
    await paste(page, [
      ['nr;name\nA-17;North Lab', '{ "id": "A-17" }'],
      ['nr;name\nB-952;City Lab', '{ "id": "B-952" }'],
      ['nr;name\nCX-12;Harbour', '{ "id": "CX-12" }'],
    ])
    await derive(page).click()
    await question(page, 'id').getByRole('button', { name: 'Keep it for id' }).click()
    await page.getByText('your answer').waitFor()
    await page.getByText('"csv": {').first().waitFor({ state: 'attached' })
  })

  test('fills the mapping of an endpoint, whose tables are stored first', async (t) => {
    const { service, page, open, checkAccessibility } = await openConsole(t, { width: 360, height: 800 })
    const { _id } = await service.register({ name: 'Codes', endpoint: { pattern: '/codes' }, description: 'kept' })
    await open(`endpoints/${_id}/mapping`)
    await page.getByRole('button', { name: 'Begin with examples' }).click()
    await page.waitForURL(/by-example\?endpoint=/)
    await paste(page, CODES)
    await derive(page).click()
    await page.getByRole('button', { name: 'Store the table …' }).waitFor()
    await checkAccessibility()
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360)
    assert.equal(await openDraft(page).getAttribute('aria-disabled'), 'true')
    await page.getByRole('button', { name: 'Store the table …' }).click()
    await page.getByText('24 rows added').waitFor()
    await page.getByRole('button', { name: 'Store', exact: true }).click()
    await page.locator('.chip', { hasText: 'stored' }).waitFor()
    await openDraft(page).click()
    await page.waitForURL(/\/edit/)
    await documentEditor(page).getByText('"kept"').waitFor()
    await publish(page, 'Publish', /48 passed, 0 failed/)
    assert.deepEqual(await send(service, '/codes', 'application/json', '{ "code": "C7", "nr": 5 }'), {
      name: 'N 7',
      nr: 5,
    })
    assert.equal(await storedTests(service, page), 48)
  })

  test('comes from recorded messages', async (t) => {
    const { service, page, open } = await openConsole(t, { env: { MESSAGE_LOG: 'all' } })
    await service.register({
      name: 'Orders',
      endpoint: { pattern: '/orders' },
      inputMapping: { 'requestBody.nr': 'order.id', 'requestBody.by': 'order.customer' },
    })
    await service.register({ name: 'Other', endpoint: { pattern: '/other' }, inputMapping: { 'requestBody.a': 'b' } })
    await service.fetch('/other', json('POST', { a: 1 }))
    for (const by of ['Ann Lee', 'Bob Ray', 'Cleo Poe'])
      await service.fetch('/orders', json('POST', { nr: `${by} 1`, by }))
    await open('messages')
    await page.getByRole('button', { name: 'Derive a document from these' }).click()
    await page.getByText('of the newest messages, 1 of others are left out').waitFor()
    await page.waitForURL(/by-example\?message=/)
    await page
      .getByRole('button', { name: /^Leave message .* out$/ })
      .first()
      .click()
    await derive(page).click()
    await page.getByRole('rowheader', { name: 'order.customer' }).waitFor()
    await page.reload()
    await page.getByRole('rowheader', { name: 'order.customer' }).waitFor()
    assert.equal(await page.getByRole('list', { name: 'Recorded messages' }).getByRole('listitem').count(), 2)
  })

  test('is for authors', async (t) => {
    const { page, open, checkAccessibility } = await openConsole(t, { role: 'viewer' })
    await open('endpoints/by-example')
    await paste(page, LABS)
    assert.equal(await derive(page).getAttribute('aria-disabled'), 'true')
    await page.getByText('This needs the role author.').first().waitFor({ state: 'attached' })
    await checkAccessibility()
  })
})
