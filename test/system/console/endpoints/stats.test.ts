/** `/endpoints/:id/stats`: counts and charts with their tables, and the minutes that have no messages. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { json } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'
import { NO_BROWSER } from '../browser.ts'
import { openConsole } from '../console-page.ts'

describe('the statistics of an endpoint', { skip: NO_BROWSER }, () => {
  test('say that there were no messages, then count them, with a table for each chart', async (test) => {
    const { service, page, open, checkAccessibility } = await openConsole(test)
    const { _id } = await service.register({
      name: 'Orders',
      endpoint: { pattern: '/orders' },
      inputValidation: { properties: { requestBody: { required: ['nr'] } } },
    })
    await open(`endpoints/${_id}/stats`)
    await page.getByText('No messages in the last 24 hours').waitFor()
    for (const body of [{ nr: 1 }, {}, { nr: 2 }, { nr: 3 }]) await service.fetch('/orders', json('POST', body))
    await page.getByText('25 % of all').waitFor()
    await page.locator('canvas').nth(1).waitFor()
    await checkAccessibility()
    await page.getByText('As a table').first().click()
    await page.getByRole('columnheader', { name: 'Messages' }).waitFor()
    const cells = await page.getByRole('table').first().getByRole('cell').allTextContents()
    assert.deepEqual([cells.length, cells.map(Number).reduce((sum, value) => sum + value)], [120, 5])
    await page.getByRole('heading', { name: 'Drift of the messages' }).waitFor()
    await page.getByLabel('Period', { exact: true }).selectOption('day')
    await page.waitForURL(/period=day/)
    await page.getByRole('group').first().waitFor({ state: 'attached' })
    await page.reload()
    await page.getByText('25 % of all').waitFor()
    assert.equal(await page.getByLabel('Period', { exact: true }).inputValue(), 'day')
  })

  test('show fields that nothing reads and fields that did not come, with the places that read them', async (test) => {
    const { service, page, open, checkAccessibility } = await openConsole(test, { env: { DRIFT_SAMPLE: '1' } })
    const { _id } = await service.register({
      name: 'Orders',
      endpoint: { pattern: '/orders' },
      inputMapping: { 'requestBody.nr': 'nr', 'requestBody.ward': 'ward' },
    })
    await service.fetch('/orders', json('POST', { nr: 1, bed: '<img src=x onerror=alert(1)>' }))
    await until(
      async () => (await service.fetch(`/endpoints/${_id}/drift`)).json<{ sampled: number }>().sampled,
      (sampled) => sampled === 1,
    )
    await open(`endpoints/${_id}/stats`)
    await page.getByRole('row', { name: /requestBody\.bed.*string.*1 of 1/ }).waitFor()
    const missing = page.getByRole('row', { name: /requestBody\.ward.*never/ })
    assert.match((await missing.getByRole('link').getAttribute('href')) ?? '', /\/edit\?path=inputMapping\.requestBody/)
    await checkAccessibility()
  })
})
