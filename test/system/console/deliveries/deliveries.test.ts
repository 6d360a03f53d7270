/** /deliveries in a real browser: what waits, why one did not arrive, and what is done about it. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { json, startUpstream } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'
import { NO_BROWSER, type View } from '../browser.ts'
import { openConsole } from '../console-page.ts'

/** A service with deliveries that their target refuses until `accepts` is set. */
async function openWithDeliveries(test: TestContext, count: number, view: View = {}) {
  const lab = { accepts: false }
  const upstream = await startUpstream((_request, response) => {
    if (lab.accepts) return { ok: true }
    response.writeHead(422, { 'content-type': 'application/json' }).end('{"error":"no such test"}')
    return undefined
  })
  test.after(() => upstream.stop())
  const opened = await openConsole(test, { ...view, env: { MESSAGE_LOG: 'all' } })
  const { service } = opened
  await service.register({
    name: 'Lab orders',
    endpoint: { pattern: '/lab' },
    requests: {
      response: [
        {
          id: 'lab',
          config: { method: 'POST', url: `${upstream.url}/orders` },
          delivery: { key: 'requestBody.patient' },
        },
      ],
    },
    inputMapping: { 'requestBody.patient': 'patient', 'requestBody.code': 'code' },
  })
  for (let at = 0; at < count; at++) await service.fetch('/lab', json('POST', { patient: `p-${at}`, code: 'GLU' }))
  const undeliverable = async () => {
    const reply = await fetch(`${service.adminUrl}/deliveries?state=undeliverable`)
    return ((await reply.json()) as { deliveries: readonly unknown[] }).deliveries.length
  }
  await until(undeliverable, (found) => found === count)
  return { ...opened, upstream, lab }
}

describe('/deliveries', { skip: NO_BROWSER }, () => {
  test('says what it is for while there is nothing', async (test) => {
    const { page, open, checkAccessibility } = await openConsole(test)
    await open('deliveries')
    await page.getByText('There are no deliveries').waitFor()
    await checkAccessibility()
  })

  test('leads from what was refused to its attempts and its body, and sends it again with another one', async (test) => {
    const { page, open, checkAccessibility, lab, upstream } = await openWithDeliveries(test, 1)
    await open('deliveries')
    await page.getByLabel('Deliveries by state').getByRole('link', { name: '1' }).click()
    await page.waitForURL(/state=undeliverable/)
    await page.getByRole('row', { name: /undeliverable.*Lab orders.*p-0.*422/ }).waitFor()
    await checkAccessibility()
    await page.locator('[data-row]').click()
    await page.getByText('422').first().waitFor()
    await page.getByRole('button', { name: 'Show all of it, with the body' }).click()
    await page.getByLabel('Body').waitFor()
    await checkAccessibility()
    lab.accepts = true
    await page.getByRole('button', { name: 'Retry with another body …' }).click()
    await page.getByRole('dialog').getByLabel('Body').fill('{"patient":"p-0","code":"HB"}')
    await checkAccessibility()
    await page.getByRole('button', { name: 'Retry with this body' }).click()
    await page.locator('.chip', { hasText: 'delivered' }).waitFor()
    assert.equal(upstream.received.at(-1)?.body, '{"patient":"p-0","code":"HB"}')
  })

  test('counts what arrives while it is open', async (test) => {
    const { page, open, service } = await openWithDeliveries(test, 1)
    await open('deliveries')
    const figures = page.getByLabel('Deliveries by state')
    await figures.getByRole('link', { name: '1' }).waitFor()
    await service.fetch('/lab', json('POST', { patient: 'p-7', code: 'GLU' }))
    await figures.getByRole('link', { name: '2' }).waitFor()
  })

  test('runs the message of a delivery through the document of today', async (test) => {
    const { page, open, lab, upstream } = await openWithDeliveries(test, 1)
    await open('deliveries')
    await page.locator('[data-row]').click()
    lab.accepts = true
    await page.getByRole('button', { name: 'Retry through the document of today …' }).click()
    await page.getByRole('button', { name: 'Run the message' }).click()
    await page.getByRole('link', { name: /The message ran as/ }).waitFor()
    await page.locator('.chip', { hasText: 'cancelled' }).waitFor()
    await until(
      async () => upstream.received.length,
      (count) => count === 2,
    )
  })

  test('changes all that the filters find, in one state', async (test) => {
    const { page, open } = await openWithDeliveries(test, 3)
    await open('deliveries')
    await page.getByRole('button', { name: 'Cancel all that match …' }).hover()
    await page.getByText('Choose the state pending or undeliverable.').first().waitFor({ state: 'attached' })
    await page.getByLabel('State', { exact: true }).selectOption('undeliverable')
    await page.waitForURL(/state=undeliverable/)
    await page.getByRole('button', { name: 'Cancel all that match …' }).click()
    await page.getByRole('dialog').getByText('state: undeliverable').waitFor()
    await page.getByRole('button', { name: 'Cancel them' }).click()
    await page.getByText('3 cancelled.').waitFor()
    await page.getByRole('button', { name: '3 gone: show' }).click()
    await page.getByText('No delivery matches').waitFor()
  })

  test('reads as cards at 360 px', async (test) => {
    const { page, open, checkAccessibility } = await openWithDeliveries(test, 1, { width: 360, height: 800 })
    await open('deliveries')
    await page.locator('[data-row]').waitFor()
    await checkAccessibility()
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360)
    await page.locator('[data-row]').click()
    await page.getByText('422').first().waitFor()
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360)
    await checkAccessibility()
  })
})
