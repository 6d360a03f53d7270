/** The loop of the console: a failed message is debugged, its endpoint fixed, tested, published, and the failed ones replayed. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import type { JsonObject } from '../../../src/core/json.ts'
import { json, type Service, startService, startUpstream, type Upstream } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { NO_BROWSER } from './browser.ts'
import { openConsole } from './console-page.ts'
import { allPassed, caretToLine, documentEditor, stageOf, tabTo } from './editor-page.ts'

type Group = Readonly<{ key: string; count: number; code: string; path: string }>

describe('the loop', { skip: NO_BROWSER }, () => {
  let service: Service
  let upstream: Upstream
  before(async () => {
    service = await startService()
    upstream = await startUpstream(() => ({}))
  })
  after(async () => {
    await service.stop()
    await upstream.stop()
  })

  const admin = async (path: string, init?: RequestInit) => (await fetch(`${service.adminUrl}${path}`, init)).json()
  const groupsOf = async (id: string, more = ''): Promise<readonly Group[]> =>
    ((await admin(`/messages/groups?endpoint=${id}${more}`)) as { groups: readonly Group[] }).groups

  /** 25 messages that fail for two causes: 15 lack a code, and 10 have the patient as a text. */
  async function failingEndpoint(name: string) {
    const pattern = `/${name}`
    const { _id: id } = await service.register({
      name,
      endpoint: { pattern },
      inputValidation: {
        type: 'object',
        required: ['patient', 'code'],
        properties: { patient: { type: 'integer' }, code: { type: 'string' }, note: { type: 'string' } },
      },
      requests: { response: [{ id: 'store', config: { method: 'POST', url: `${upstream.url}${pattern}` } }] },
      inputMapping: { 'requestBody.patient': 'subject', 'requestBody.code': 'code', 'requestBody.nr': 'nr' },
    })
    for (let nr = 0; nr < 25; nr += 1) {
      const body = nr < 15 ? { nr, patient: nr } : { nr, patient: String(nr), code: 'HB' }
      assert.equal((await service.fetch(pattern, json('POST', body))).status, 400)
    }
    const groups = await until(
      () => groupsOf(id),
      (found) => found.reduce((sum, { count }) => sum + count, 0) === 25,
    )
    assert.deepEqual(
      groups.map(({ code, path, count }) => [code, path, count]),
      [
        ['VALIDATION_FAILED', 'inputValidation.required[1]', 15],
        ['VALIDATION_FAILED', 'inputValidation.properties.patient.type', 10],
      ],
    )
    return { id, pattern, groups }
  }

  const press = async (button: Locator) => {
    await button.waitFor()
    await tabTo(button.page(), button)
    await button.page().keyboard.press('Enter')
  }

  /** Opens the editor with the newest message of a group. Out: the id of the message. */
  async function debugNewest(page: Page, { key }: Group): Promise<string> {
    await page.goto(`/console/groups/${key}`)
    await press(page.getByRole('button', { name: 'Debug newest' }))
    await page.waitForURL(/message=/)
    return new URL(page.url()).searchParams.get('message') ?? ''
  }

  /** The line of the document that has the caret. */
  const lineOf = (page: Page): Promise<string | null> =>
    documentEditor(page).locator('.cm-activeLine').first().textContent()

  /** Replays each group, one message first, then the rest. */
  async function replayAll(
    page: Page,
    { id, pattern, groups }: Readonly<{ id: string; pattern: string; groups: readonly Group[] }>,
  ) {
    for (const { key, count } of groups) {
      // The notice of the publishing leads to the group of the message.
      if (key === groups[0]?.key) await press(page.locator('.notice').getByRole('link'))
      else await page.goto(`/console/groups/${key}`)
      await page.waitForURL(`**/console/groups/${key}`)
      await press(page.getByRole('button', { name: 'Replay group …' }))
      await press(page.getByRole('button', { name: 'Run one first' }))
      await page.getByText(`1 done, 0 failed again, ${count - 1} left of ${count}`).waitFor()
      await press(page.getByRole('button', { name: `Run the rest (${count - 1})` }))
      await page.getByText(`${count} done, 0 failed again, 0 left of ${count}`).waitFor()
    }
    const nrs = upstream.received
      .filter(({ url }) => url === pattern)
      .map(({ body }) => (JSON.parse(body) as { nr: number }).nr)
    assert.deepEqual(
      nrs.toSorted((one, other) => one - other),
      Array.from({ length: 25 }, (_, nr) => nr),
    )
    await until(
      () => groupsOf(id, '&replayed=false'),
      (open) => open.length === 0,
    )
    await page.goto('/console/groups')
    await page.getByRole('heading', { level: 1 }).waitFor()
    assert.equal(await page.getByRole('row', { name: new RegExp(pattern.slice(1)) }).count(), 0)
  }

  const versionOf = async (id: string) => {
    const [newest] = (await admin(`/endpoints/${id}/versions`)) as readonly Readonly<{
      version: number
      origin: { note?: string }
    }>[]
    return [newest?.version, newest?.origin.note]
  }

  test('goes round by keyboard only', async (t) => {
    const failing = await failingEndpoint('results')
    const { id, groups } = failing
    const { page, checkAccessibility } = await openConsole(t, { of: service, width: 1440, height: 900 })
    const [first] = groups
    assert.ok(first)
    const messageId = await debugNewest(page, first)
    const validate = stageOf(page, 'validate')
    const sentence = validate.getByRole('button', { name: /Validation failed/ })
    await sentence.waitFor()
    const sent = ((await admin(`/messages/${messageId}/body/incoming`)) as { nr: number }).nr
    await validate.getByText(`"nr": ${sent}`).waitFor()
    await checkAccessibility()
    // The sentence leads to the field that failed the message.
    await tabTo(page, sentence)
    await page.keyboard.press('Enter')
    await until(
      () => lineOf(page),
      (line) => line?.includes('"patient", "code"') === true,
    )
    for (const [before, after] of [
      ['["patient", "code"]', '  "required": ["patient"],'],
      ['"patient": { "type": "integer" }', '      "patient": {},'],
    ] as const) {
      await caretToLine(page, before)
      await page.keyboard.press('Home')
      await page.keyboard.press('Shift+End')
      await page.keyboard.insertText(after)
    }
    await allPassed(page)
    await page.locator('[data-stage="map"] .stage-mark', { hasText: 'new' }).waitFor()
    await page.keyboard.press('Control+Enter')

    await tabTo(page, page.getByRole('button', { name: 'Save as test' }))
    await page.keyboard.press('Enter')
    const save = page.getByRole('button', { name: 'Save the test' })
    await save.waitFor()
    await page.getByRole('dialog', { name: 'Save as test' }).getByLabel('Outcome').waitFor()
    await checkAccessibility()
    await tabTo(page, save)
    await page.keyboard.press('Enter')
    await page.getByText('is saved.').waitFor()

    await page.keyboard.press('Control+s')
    const publish = page.getByRole('dialog', { name: 'Publish' })
    await publish.getByText('1 passed, 0 failed').waitFor()
    await checkAccessibility()
    await tabTo(page, publish.getByLabel('Note'))
    await page.keyboard.type('fixed by keys')
    await tabTo(page, publish.getByRole('button', { name: 'Publish', exact: true }))
    await page.keyboard.press('Enter')
    await page.getByText('Published as version 2').waitFor()
    assert.deepEqual(await versionOf(id), [2, 'fixed by keys'])
    const report = (await admin('/endpoints/tests/run', json('POST', { endpointId: id }))) as JsonObject
    assert.deepEqual([report.passed, report.failed], [1, 0])
    await replayAll(page, failing)
  })
})
