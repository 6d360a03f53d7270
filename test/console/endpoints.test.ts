/** /endpoints: the list of endpoints in a real browser. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { NO_BROWSER } from './browser.ts'
import { openConsole } from './console-page.ts'

describe('/endpoints', { skip: NO_BROWSER }, () => {
  test('says what endpoints are where there are none', async (test) => {
    const { page, open, checkAccessibility } = await openConsole(test)
    await open('endpoints')
    await page.getByText('There are no endpoints yet').waitFor()
    await checkAccessibility()
  })

  test('lists endpoints with what they take, sorts and finds them', async (test) => {
    const { service, page, open, checkAccessibility } = await openConsole(test)
    await service.register({ name: 'Orders', endpoint: { pattern: '/orders' }, labels: { team: 'lab' } })
    await service.register({ name: 'Admissions', endpoint: { pattern: '/admissions' } })
    await open('endpoints')
    const names = page.getByRole('rowheader').getByRole('link')
    assert.deepEqual(await names.allTextContents(), ['Admissions', 'Orders'])
    await checkAccessibility()
    await page.getByRole('button', { name: 'Name' }).click()
    await page.waitForURL(/sort=-name/)
    await page.getByRole('columnheader', { name: 'Name' }).and(page.locator('[aria-sort="descending"]')).waitFor()
    await page.getByRole('link', { name: 'Orders' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('lab')
    await page.waitForURL(/q=lab/)
    await page.getByText('1 of 1').waitFor()
    assert.deepEqual(await names.allTextContents(), ['Orders'])
  })
})
