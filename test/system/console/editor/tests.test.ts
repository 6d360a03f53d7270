/** `/endpoints/:id/tests`: running stored tests, and changing them without losing what others change. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { json, type Service } from '../../../support/service.ts'
import { NO_BROWSER } from '../browser.ts'
import { openConsole } from '../console-page.ts'
import { stageOf } from '../editor-page.ts'

const GOOD = { name: 'good', given: { message: { body: { nr: 1 } } }, expect: { answer: { body: { nr: 1 } } } }
const BAD = { name: 'bad', given: { message: { body: { nr: 2 } } }, expect: { answer: { body: { nr: 3 } } } }

/** Replaces the text of the editor. */
async function type(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Test', exact: true }).click()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText(text)
}

async function withTests(service: Service, tests: readonly object[]): Promise<string> {
  const { _id } = await service.register({
    name: 'Orders',
    endpoint: { pattern: '/orders' },
    inputMapping: { 'requestBody.nr': 'nr' },
  })
  await service.fetch(`/endpoints/${_id}/tests`, json('PUT', { tests: tests as never }))
  return _id
}

describe('the tests of an endpoint', { skip: NO_BROWSER }, () => {
  test('run together and alone, and show each place that differs', async (test) => {
    const { service, origin, page, checkAccessibility } = await openConsole(test)
    const id = await withTests(service, [GOOD, BAD])
    // Tests may be started before the page knows the version of the endpoint.
    const released = Promise.withResolvers<void>()
    const isRow = (url: URL) => url.searchParams.get('view') === 'summary'
    await page.route(isRow, (route) => released.promise.then(() => route.continue()), { times: 1 })
    await page.goto(`${origin}/console/endpoints/${id}/tests`)
    await page.getByText('They have not run on this page yet').waitFor()
    await page.keyboard.press('Control+Enter')
    await page.getByText('Running').waitFor()
    released.resolve()
    await page.getByText('1 passed, 1 failed').waitFor()
    const bad = page.getByRole('listitem').filter({ hasText: 'bad' }).first()
    await bad.getByText('/expect/answer/body/nr').waitFor()
    assert.match(await bad.innerText(), /expected\s+3\s+actual\s+2/)
    await checkAccessibility()
    await service.fetch(`/endpoints/${id}`, json('PATCH', { description: 'changed' }))
    await page.getByText('The endpoint has changed since').waitFor()
    await page.getByRole('button', { name: 'Run good' }).click()
    await page.getByText('version 2').first().waitFor()
    assert.match(
      (await page.getByRole('link', { name: 'Open in editor: bad' }).getAttribute('href')) ?? '',
      new RegExp(`/endpoints/${id}/edit\\?test=bad`),
    )
  })

  test('open in the editor and in the mapping view, by a URL', async (test) => {
    const { service, page, open } = await openConsole(test)
    const id = await withTests(service, [GOOD])
    await open(`endpoints/${id}/edit?test=good`)
    await stageOf(page, 'map').getByText('"nr": 1').waitFor()
    await page.getByRole('link', { name: 'Mapping' }).click()
    await page.waitForURL(/mapping\?test=good/)
    await page.getByText('ran dry on the test "good"').waitFor()
    for (const view of ['Editor', 'Tests', 'Mapping', 'Versions', 'Editor']) {
      await page.getByRole('navigation', { name: 'Pages of the endpoint' }).getByRole('link', { name: view }).click()
      await page.waitForURL(new RegExp(`/${view === 'Editor' ? 'edit\\?test=good' : view.toLowerCase()}`))
    }
    await page.getByRole('link', { name: 'Mapping' }).click()
    await page.waitForURL(/mapping\?test=good/)
    await page.getByRole('treegrid', { name: 'Can be read' }).getByRole('row', { name: 'nr', exact: true }).waitFor()
    await open(`endpoints/${id}/edit?test=gone`)
    await page.getByText('The endpoint has no test named “gone”.').waitFor()
    await open(`endpoints/${id}/mapping?test=gone`)
    await page.getByText('There is no test "gone".').waitFor()
  })

  test('are edited as JSON, skipped and deleted, and keep what others add meanwhile', async (test) => {
    const { service, page, open, checkAccessibility } = await openConsole(test)
    const id = await withTests(service, [GOOD])
    const stored = async () =>
      (await service.fetch(`/endpoints/${id}/tests`)).json<{ tests: readonly { name: string }[] }>().tests
    await open(`endpoints/${id}/tests`)
    await page.getByRole('button', { name: 'New test …' }).click()
    const editor = page.getByRole('textbox', { name: 'Test', exact: true })
    await editor.waitFor()
    await checkAccessibility()
    await service.fetch(`/endpoints/${id}/tests`, json('PUT', { tests: [GOOD, BAD] }))
    await type(page, '{ "name": "typed", "given": 7 }')
    await page.keyboard.press('Control+s')
    await page.getByText('TESTS_INVALID').waitFor()
    await type(page, '{ "name": "typed", "expect": { "outcome": "done" } }')
    await page.keyboard.press('Control+s')
    await page.getByRole('heading', { name: 'typed' }).waitFor()
    assert.deepEqual(
      (await stored()).map(({ name }) => name),
      ['good', 'bad', 'typed'],
    )
    await page.getByRole('button', { name: 'Skip bad' }).click()
    await page.getByLabel('Reason').fill('the lab decides')
    await page.getByRole('dialog').getByRole('button', { name: 'Skip' }).click()
    await page.getByText('Skipped: the lab decides').waitFor()
    await page.getByRole('button', { name: 'Do not skip bad' }).click()
    await page.getByRole('button', { name: 'Skip bad' }).waitFor()
    await page.getByRole('button', { name: 'Delete good' }).click()
    await page.getByRole('button', { name: 'Delete test' }).click()
    await page.getByRole('heading', { name: 'good' }).waitFor({ state: 'detached' })
    assert.deepEqual(await stored(), [BAD, { name: 'typed', expect: { outcome: 'done' } }])
  })

  test('that somebody changes meanwhile are not overwritten, and no typed text is lost', async (test) => {
    const { service, page, open } = await openConsole(test)
    const id = await withTests(service, [GOOD])
    await open(`endpoints/${id}/tests`)
    await page.getByRole('button', { name: 'Edit JSON: good' }).click()
    const editor = page.getByRole('textbox', { name: 'Test', exact: true })
    await type(page, '{ "name": "good", "skip": "mine" }')
    await service.fetch(`/endpoints/${id}/tests`, json('PUT', { tests: [{ ...GOOD, skip: 'theirs' }] }))
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Somebody has changed this test meanwhile').waitFor()
    assert.match(await editor.innerText(), /mine/)
  })
})
