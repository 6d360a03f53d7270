/** /groups: failures that are alike in a real browser, of a real service. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { NO_BROWSER } from '../browser.ts'
import { openWithFailures, send } from '../failed-messages.ts'

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
