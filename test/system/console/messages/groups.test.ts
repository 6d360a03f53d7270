/** /groups and /replays: failures that are alike and plans of replays in a real browser, of a real service with a real upstream. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { json, type Service } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'
import { NO_BROWSER } from '../browser.ts'
import { fixEndpoint, openWithFailures, send } from '../failed-messages.ts'

describe('/groups', { skip: NO_BROWSER }, () => {
  test('shows what failures have in common, and opens the newest in the editor by keys alone', async (test) => {
    const { failed, endpoint, page, open, checkAccessibility } = await openWithFailures(test)
    await open('groups')
    await page.getByRole('row', { name: /VALIDATION_FAILED.*Admissions.*3 in the last hour/ }).waitFor()
    await checkAccessibility()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Failures: VALIDATION_FAILED' }).waitFor()
    await page.getByText('Validation failed: /ward is required.').first().waitFor()
    await page.getByText('3 not fixed yet').waitFor()
    await page.getByText('As a table').click()
    await checkAccessibility()
    await page.keyboard.press('d')
    await page.waitForURL(new RegExp(`/endpoints/${endpoint._id}/edit\\?message=${failed[2]}$`))
  })

  test('is acknowledged with a note, and counts what joins it since', async (test) => {
    const { service, page, open, checkAccessibility } = await openWithFailures(test, 2)
    await open('groups')
    await page.locator('[data-row]').click()
    await page.getByRole('button', { name: 'Acknowledge …' }).click()
    await page.getByLabel('Note').fill('The ward is being added; ticket 4711.')
    await checkAccessibility()
    await page.getByRole('button', { name: 'Acknowledge', exact: true }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByText('ticket 4711').waitFor()
    await send(service, '/admissions/north', { patient: 'p-late' })
    await page.getByText('1 since then').waitFor()
    await page.getByRole('link', { name: '← All failures' }).click()
    await page.getByText('Nothing needs your attention').waitFor()
    await page.getByLabel('State').selectOption('acknowledged')
    await page.waitForURL(/state=acknowledged/)
    await page.getByText('1 since then').waitFor()
    await checkAccessibility()
  })

  test('reads as cards at 360 px', async (test) => {
    const { page, open, checkAccessibility } = await openWithFailures(test, 1, { width: 360, height: 800 })
    await open('groups')
    await page.locator('[data-row]').waitFor()
    await checkAccessibility()
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360)
    await page.locator('[data-row]').click()
    await page.getByText('1 not fixed yet').waitFor()
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360)
    await checkAccessibility()
  })
})

/** Out: the id of a plan of all that failed. */
async function plan({ adminUrl }: Service, filter = {}): Promise<string> {
  const response = await fetch(`${adminUrl}/messages/replay`, json('POST', filter))
  return ((await response.json()) as { id: string }).id
}

describe('/replays', { skip: NO_BROWSER }, () => {
  test('says what a plan will run, and what cannot run and why', async (test) => {
    const opened = await openWithFailures(test)
    const { service, page, open, checkAccessibility } = opened
    await fetch(`${service.adminUrl}/messages/${opened.failed[0]}/replay`, json('POST', { patient: 'p', ward: '1' }))
    const id = await plan(service)
    await open('replays')
    await page.locator('[data-row]').click()
    await page.waitForURL(new RegExp(`/replays/${id}$`))
    await page.getByText('0 done, 0 failed again, 2 left of 2').waitFor()
    await page.getByText('A replay of it has succeeded already.').waitFor()
    await page.getByLabel('At most').fill('none')
    await page.getByText('A whole number from 1 to 100,000, or nothing.').waitFor()
    await checkAccessibility()
  })

  test('runs one first by default, and leads from what failed again to its message and cause', async (test) => {
    const { service, upstream, page, open, checkAccessibility } = await openWithFailures(test)
    await open(`replays/${await plan(service)}`)
    await page.getByRole('button', { name: 'Run one first' }).focus()
    await page.keyboard.press('Enter')
    await page.getByText('0 done, 1 failed again, 2 left of 3').waitFor()
    await page.getByText('waiting: look at the first messages').waitFor()
    await page
      .getByRole('region', { name: 'Run', exact: true })
      .getByRole('button', { name: 'Run the rest (2)' })
      .waitFor()
    await checkAccessibility()
    assert.equal(upstream.received.length, 1)
    await page.getByRole('link', { name: 'The replay' }).first().click()
    await page.getByRole('link', { name: 'Failures that are alike' }).click()
    await page.getByRole('heading', { name: 'Failures: VALIDATION_FAILED' }).waitFor()
    await page.goBack()
    await page.goBack()
    await page.getByRole('link', { name: 'Failed replays by cause' }).click()
    await page.getByRole('row', { name: /VALIDATION_FAILED/ }).waitFor()
    await page.goBack()
    await page.getByRole('button', { name: 'Cancel the plan …' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the plan' }).click()
    await page.locator('.chip', { hasText: 'cancelled' }).waitFor()
    await page.getByRole('region', { name: 'Run', exact: true }).waitFor({ state: 'detached' })
  })

  test('shows the progress of a run as it happens, and pauses it', async (test) => {
    const opened = await openWithFailures(test, 40)
    const { service, upstream, page, open } = opened
    await fixEndpoint(opened)
    await open(`replays/${await plan(service)}`)
    await page.getByLabel('One first').uncheck()
    await page.getByLabel('Per second').fill('5')
    await page.getByRole('button', { name: 'Run (40)' }).click()
    const done = async () => Number(/^\d+/.exec((await page.getByText(/done, 0 failed/).textContent()) ?? '')?.[0])
    await until(done, (count) => count >= 3)
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.locator('.chip', { hasText: 'paused' }).waitFor()
    await page.getByLabel('Per second').fill('')
    await page.getByLabel('At once').fill('10')
    await page.getByLabel('One first').uncheck()
    await page.getByRole('button', { name: /^Run on/ }).click()
    await page.getByText('40 done, 0 failed again, 0 left of 40').waitFor()
    await page.getByRole('heading', { name: 'What the messages were before' }).waitFor()
    await page.getByRole('link', { name: 'Failures that are left' }).click()
    await page.getByText('Nothing needs your attention').waitFor()
    assert.equal(upstream.received.length, 41)
  })
})
