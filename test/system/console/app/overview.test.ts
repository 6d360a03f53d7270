/** The overview: what needs somebody. The first step of an empty service: test/system/smoke/console.test.ts. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { openSqliteStore } from '../../../../src/store/sqlite/open-sqlite-store.ts'
import { insertEndpoint } from '../../../support/contracts/records.ts'
import { json, loggerInto, startService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'
import { NO_BROWSER } from '../browser.ts'
import { openConsole } from '../console-page.ts'
import { fixEndpoint, openWithFailures } from '../failed-messages.ts'

/** Keeps the texts that each canvas shows, the last time that it was drawn. */
const KEEP_DRAWN_TEXTS = `
  const { clearRect, fillText } = CanvasRenderingContext2D.prototype
  Object.assign(CanvasRenderingContext2D.prototype, {
    clearRect(...area) { this.canvas.drawn = []; return clearRect.apply(this, area) },
    fillText(text, ...at) { (this.canvas.drawn ??= []).push(text); return fillText.call(this, text, ...at) },
  })`

describe('the overview', { skip: NO_BROWSER }, () => {
  test('counts messages, and lists open groups and endpoints with faults at their places', async (test) => {
    const folder = mkdtempSync(join(tmpdir(), 'crosswalk-'))
    test.after(() => rmSync(folder, { recursive: true }))
    const store = await openSqliteStore({ path: join(folder, 'test.db'), logger: loggerInto([]) })
    const at = '2026-01-01T00:00:00.000Z'
    const refused = {
      _id: '0123456789abcdef01234567',
      name: 'Of an older version',
      endpoint: { pattern: '/old', method: 'POST' },
      transformation: { input: 'JSON', output: 'JSON' },
      inputMapping: { 'nobody.x': 'y' },
      createdAt: at,
      updatedAt: at,
      __v: 0,
    }
    await insertEndpoint(store.endpoints, { document: refused as never, claims: [] })
    await store.close()
    const service = await startService({}, folder)
    test.after(() => service.stop())
    const inputValidation = { properties: { requestBody: { required: ['nr'] } } }
    await service.register({ name: 'Orders', endpoint: { pattern: '/orders' }, inputValidation })
    for (const body of [{ nr: 1 }, {}, { nr: 2 }, {}]) await service.fetch('/orders', json('POST', body))
    const { page, open, checkAccessibility } = await openConsole(test, { of: service })
    await open('')
    const figures = page.locator('dl[aria-label="All messages"]')
    await figures.getByText('of 4, 50 %').first().waitFor()
    await page.getByRole('link', { name: 'Orders: VALIDATION_FAILED' }).waitFor()
    await page.getByText('not active').waitFor()
    await page.getByRole('link', { name: 'inputMapping.nobody\\.x' }).waitFor()
    assert.match(
      (await page.getByRole('link', { name: 'inputMapping.nobody\\.x' }).getAttribute('href')) ?? '',
      /0123456789abcdef01234567\/edit\?path=inputMapping\.nobody/,
    )
    await page.getByText('As a table').click()
    await page.getByRole('columnheader', { name: 'Failed' }).waitFor()
    await checkAccessibility()
    await page.getByRole('table').getByRole('link', { name: '2', exact: true }).first().click()
    await page.waitForURL(/\/messages\?outcome=partial&outcome=refused&outcome=failed&from=.+&to=/)
    await page
      .getByRole('row', { name: /VALIDATION_FAILED/ })
      .first()
      .waitFor()
  })

  test('has marks of whole messages, and no alarm once all that failed was replayed with success', async (test) => {
    const failures = await openWithFailures(test, 1)
    const { service, failed, page, open } = failures
    await page.addInitScript(KEEP_DRAWN_TEXTS)
    await open('')
    const figure = page.locator('dl[aria-label="All messages"] div', { hasText: 'Failed, 1 h' }).locator('.figure')
    await figure.and(page.locator('.bad-text')).waitFor()
    const drawn = () =>
      page
        .locator('canvas')
        .first()
        .evaluate((canvas: unknown) => (canvas as { drawn?: string[] }).drawn ?? [])
    const marks = (await until(drawn, (texts) => texts.length > 0)).filter((text) => /^\d+$/.test(text))
    assert.deepEqual(marks, [...new Set(marks)])
    await fixEndpoint(failures)
    const replayed = await fetch(`${service.adminUrl}/messages/${failed[0]}/replay`, json('POST', undefined))
    assert.ok(replayed.ok, await replayed.text())
    await page.reload()
    await figure.and(page.locator(':not(.bad-text)')).waitFor()
    await page.getByText('; all replayed').first().waitFor()
    await page.getByText('No recorded failures are open.').waitFor()
  })
})
