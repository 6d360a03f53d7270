/** A draft as forms, in a real browser: endpoints that are built without typing JSON, and documents that forms leave as they are. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { layOutDocument } from '../../../../console/src/draft/document-layout.ts'
import { SECTIONS } from '../../../../console/src/pages/editor/form/form-table.ts'
import type { JsonObject } from '../../../../src/core/json.ts'
import fc from '../../../support/fast-check.ts'
import { LONG } from '../../../support/form.ts'
import { documentTexts } from '../../../support/fuzz/documents.ts'
import { json, type Service, startUpstream } from '../../../support/service.ts'
import { NO_BROWSER } from '../browser.ts'
import { openConsole } from '../console-page.ts'

const section = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Sections' }).getByRole('button', { name }).click()
const form = (page: Page) => page.getByRole('region', { name: 'Form', exact: true })
/** The field that a path of the document names. */
const field = (page: Page, path: string) => page.locator(`[data-path="${path}"]`)
const fill = (page: Page, path: string, text: string) => field(page, path).locator('input, textarea').last().fill(text)
const choose = (page: Page, path: string, value: string) =>
  field(page, path).locator('select').first().selectOption(value)

async function publish(page: Page): Promise<void> {
  await form(page).getByText('No faults').waitFor()
  await page.keyboard.press('Control+s')
  await page.getByRole('dialog', { name: 'Publish' }).getByRole('button', { name: 'Publish', exact: true }).click()
  await page
    .getByText(/^Published as version|^The endpoint is published/)
    .first()
    .waitFor()
}

async function storedNamed(service: Service, name: string): Promise<JsonObject & { _id: string }> {
  const all = (await (await fetch(`${service.adminUrl}/endpoints`)).json()) as readonly (JsonObject & { _id: string })[]
  const found = all.find((one) => one.name === name)
  assert.ok(found)
  return found
}

/** An issuer of tokens with the API behind it, and what the endpoint sends on. */
async function startOthers(t: TestContext) {
  const upstream = await startUpstream(({ url }) =>
    url.startsWith('/token')
      ? { access_token: 'secret-token', token_type: 'Bearer', expires_in: 60 }
      : url.startsWith('/patients')
        ? { id: 'p-7', ward: 'w 3' }
        : { beds: 4 },
  )
  t.after(() => upstream.stop())
  return upstream
}

const PLAIN = {
  endpoint: { pattern: '/orders' },
  transformation: { input: 'JSON', output: 'JSON' },
  inputMapping: { 'requestBody.patient': 'patient' },
}

describe('an endpoint is built without JSON', { skip: NO_BROWSER }, () => {
  test('a lookup with OAuth2 and a chained one, tried for real', async (t) => {
    const others = await startOthers(t)
    process.env.CROSSWALK_SECRET_CLIENT = 'of the client'
    t.after(() => delete process.env.CROSSWALK_SECRET_CLIENT)
    const { page, service, open, checkAccessibility } = await openConsole(t)
    const { _id: id } = await service.register({ ...PLAIN, name: 'Orders' })
    await open(`endpoints/${id}/form`)
    await page.getByRole('textbox', { name: 'Body', exact: true }).fill('{ "patient": "p-7" }')
    await section(page, 'Lookups')
    await page.getByRole('button', { name: 'Add: Lookups' }).click()
    const first = 'requests.lookup[0]'
    await fill(page, `${first}.id`, 'patient')
    await fill(page, `${first}.config.url`, `${others.url}/patients/:id`)
    await page.getByRole('button', { name: 'Add id: Placeholders of the URL' }).click()
    await fill(page, `${first}.config.params.url.id.path`, 'requestBody.patient')
    await page.getByLabel('Authentication').check()
    await choose(page, `${first}.config.auth`, 'oauth2')
    await fill(page, `${first}.config.auth.oauth2.tokenUrl`, `${others.url}/token`)
    await fill(page, `${first}.config.auth.oauth2.clientId`, 'crosswalk')
    await field(page, `${first}.config.auth.oauth2.clientSecret`).getByText('is not empty').waitFor()
    await checkAccessibility()
    await fill(page, `${first}.config.auth.oauth2.clientSecret`, `\${env:CROSSWALK_SECRET_CLIENT}`)
    await page.getByRole('button', { name: 'Add: Lookups' }).click()
    await page.locator('summary', { hasText: 'lookup GET' }).click()
    await fill(page, 'requests.lookup[1].id', 'ward')
    await fill(page, 'requests.lookup[1].config.url', `${others.url}/wards/:ward`)
    await page.getByRole('button', { name: 'Add ward: Placeholders of the URL' }).click()
    await fill(page, 'requests.lookup[1].config.params.url.ward.path', 'lookupRequests.patient.data.ward')
    const second = field(page, 'requests.lookup[1]')
    await form(page).getByText('No faults').waitFor()
    assert.equal(others.received.length, 0)
    const tried = second.getByRole('button', { name: 'Try it' })
    assert.equal(await tried.getAttribute('aria-disabled'), 'true')
    await second.getByLabel(`Call ${new URL(others.url).host}`).check()
    await tried.click()
    await second.getByText('lookup ward').waitFor()
    assert.deepEqual(
      others.received.map(({ url }) => url),
      ['/token', '/patients/p-7', '/wards/w%203'],
    )
    await checkAccessibility()
    await publish(page)
    const reply = await service.fetch('/orders', json('POST', { patient: 'p-7' }))
    assert.equal(reply.status, 200)
    assert.equal(others.received.at(-2)?.headers.authorization, 'Bearer secret-token')
  })

  test('a schedule with durable delivery, as a new endpoint', async (t) => {
    const { page, service, open, checkAccessibility } = await openConsole(t, { width: 360, colorScheme: 'dark' })
    await open('endpoints/new')
    await page.getByRole('link', { name: 'Form', exact: true }).click()
    await fill(page, 'name', 'Report of the night')
    await fill(page, 'endpoint.pattern', '')
    await page.getByLabel('Schedule').check()
    await choose(page, 'schedule', 'cron')
    await fill(page, 'schedule.cron', '0 2 * * *')
    await fill(page, 'schedule.timezone', 'Europe/Berlin')
    await section(page, 'Formats')
    await choose(page, 'transformation.input', '')
    await section(page, 'Response requests')
    await page.getByRole('button', { name: 'Add: Response requests' }).click()
    await fill(page, 'requests.response[0].config.url', 'http://127.0.0.1:9/reports')
    await page.getByLabel('Delivery').check()
    await fill(page, 'requests.response[0].delivery.giveUpAfter', '24h')
    await checkAccessibility()
    const width = await page.evaluate('document.documentElement.scrollWidth')
    assert.equal(width, 360)
    await publish(page)
    const { endpoint, schedule, transformation, requests } = await storedNamed(service, 'Report of the night')
    assert.deepEqual(
      { endpoint, schedule, transformation, requests },
      {
        endpoint: { method: 'POST' },
        schedule: { cron: '0 2 * * *', timezone: 'Europe/Berlin' },
        transformation: { output: 'JSON' },
        requests: {
          lookup: [],
          response: [
            {
              id: 'response',
              config: { method: 'POST', url: 'http://127.0.0.1:9/reports' },
              delivery: { giveUpAfter: '24h' },
            },
          ],
        },
      },
    )
  })

  test('the validation from a sample, with a message of its own', async (t) => {
    const { page, service, open, checkAccessibility } = await openConsole(t)
    const { _id: id } = await service.register({ ...PLAIN, inputMapping: { 'requestBody.id': 'id' }, name: 'Vitals' })
    await open(`endpoints/${id}/form?part=validation`)
    await form(page).getByText('Enter a message beside the form').waitFor()
    await page.getByRole('textbox', { name: 'Body', exact: true }).fill('{ "id": "17", "pulse": 70, "notes": ["a"] }')
    await page.getByRole('button', { name: 'Require every field with its type' }).click()
    const pulse = page.getByRole('group', { name: 'pulse' })
    await pulse.getByLabel('Range').check()
    await pulse.getByLabel('At most: pulse').fill('300')
    await pulse.getByLabel('Own message: pulse').fill('Send the pulse per minute.')
    await page.getByRole('group', { name: 'id', exact: true }).getByLabel('Pattern', { exact: true }).check()
    await page.getByRole('group', { name: 'notes', exact: true }).getByLabel('Required').uncheck()
    await checkAccessibility()
    await publish(page)
    const { inputValidation } = await storedNamed(service, 'Vitals')
    assert.deepEqual(inputValidation, {
      properties: {
        id: { type: 'string', pattern: '^[0-9]+$' },
        pulse: { type: 'integer', minimum: 70, maximum: 300, errorMessage: 'Send the pulse per minute.' },
        notes: { type: 'array', items: { type: 'string' } },
      },
      required: ['id', 'pulse'],
    })
    const reply = await service.fetch('/orders', json('POST', { id: '17', pulse: 1 }))
    assert.match(reply.text, /Send the pulse per minute/)
  })
})

describe('the text of a draft', { skip: NO_BROWSER }, () => {
  test('has one undo with its forms, its faults at their fields, and links both ways', async (t) => {
    const { page, service, open } = await openConsole(t)
    const { _id: id } = await service.register({ ...PLAIN, inputMapping: {}, constants: { a: 1 }, name: 'Orders' })
    await open(`endpoints/${id}/form?part=limits`)
    await page.getByLabel('Rate limit').check()
    await field(page, 'rateLimit.messages').locator('input').fill('')
    await page.keyboard.type('0')
    await field(page, 'rateLimit.messages').getByText('must be a whole number').waitFor()
    await page.getByRole('button', { name: 'Route and sources' }).click()
    await page.getByRole('button', { name: /^Line \d/ }).click()
    await page.locator('[data-path="rateLimit.messages"] input:focus').waitFor()
    await page.keyboard.press('Control+z')
    await page.keyboard.press('Control+z')
    await page.getByText('as stored').waitFor()
    assert.equal(await page.getByLabel('Rate limit').isChecked(), false)
    await page.getByRole('button', { name: 'Mapping', exact: true }).click()
    await field(page, 'constants').getByRole('link', { name: 'Edit in the JSON' }).click()
    await page.waitForURL(/\/edit\?.*path=constants/)
  })

  test('is only read by a viewer', async (t) => {
    const { page, open, keys, service } = await openConsole(t, { role: 'viewer' })
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${keys?.author ?? ''}` }
    const created = await fetch(`${service.adminUrl}/endpoints`, {
      ...json('POST', { ...PLAIN, inputMapping: {}, name: 'Orders' }),
      headers,
    })
    const { _id: id } = (await created.json()) as { _id: string }
    await open(`endpoints/${id}/form`)
    await field(page, 'name').locator('input').waitFor()
    await form(page).getByText('needs the role author').waitFor()
    assert.equal(await form(page).locator('.form-section :enabled').count(), 0)
  })

  test(`stays as it is while ${LONG ? 500 : 40} documents are opened in every form`, async (t) => {
    const { page, open } = await openConsole(t)
    const root = fileURLToPath(new URL('../../../../samples', import.meta.url))
    const samples = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((path) => /endpoint[^/.]*\.json$/.test(path))
      .map((path) => layOutDocument(readFileSync(`${root}/${path}`, 'utf8')))
    const random = fc.sample(documentTexts, LONG ? 500 : 40)
    const texts = [...samples, ...random]
    await open('endpoints')
    await page.evaluate(`(async () => {
      const { who } = await (await fetch('/me')).json()
      for (const [index, text] of ${JSON.stringify(texts)}.entries())
      sessionStorage.setItem('crosswalk-draft:kept-' + index, JSON.stringify({ who, text, base: { text: '{}' } }))
    })()`)
    const opened = await page.evaluate(`(async () => {
      const drawn = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
      let opened = 0
      for (let index = 0; index < ${texts.length}; index += 1) {
        history.pushState({}, '', '/console/endpoints/kept-' + index + '/form')
        dispatchEvent(new PopStateEvent('popstate'))
        const there = () => document.querySelector('[data-draft="kept-' + index + '"] :is(.form-section, .empty)')
        for (let tries = 0; tries < 500 && there() === null; tries += 1) await drawn()
        let shown = 0
        for (const button of document.querySelectorAll('.form-sections button')) {
          button.click()
          for (let tries = 0; tries < 500 && button.ariaCurrent !== 'true'; tries += 1) await drawn()
          shown += document.querySelectorAll('.form-section [data-path]').length > 0 ? 1 : 0
        }
        if (shown === ${SECTIONS.length}) opened += 1
      }
      return opened
    })()`)
    assert.ok(Number(opened) > texts.length / 2, `${opened} of ${texts.length} were JSON objects with forms`)
    const after = await page.evaluate(`Array.from({ length: ${texts.length} }, (_, index) =>
      JSON.parse(sessionStorage.getItem('crosswalk-draft:kept-' + index)).text)`)
    assert.deepEqual(after, texts)
  })
})
