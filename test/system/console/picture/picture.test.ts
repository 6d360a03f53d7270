/** The picture of an endpoint and the map of all, in a real browser. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startGraphService } from '../../../../scripts/console/pictures/graph-pictures.ts'
import { until } from '../../../support/until.ts'
import { NO_BROWSER } from '../browser.ts'
import { openConsole } from '../console-page.ts'

describe('pictures', { skip: NO_BROWSER }, () => {
  test('show where messages failed, and lead to the form, the messages and the neighbours', async (test) => {
    const { service, id, stop } = await startGraphService()
    test.after(stop)
    const { page, open, checkAccessibility } = await openConsole(test, { of: service })
    await open(`endpoints/${id}/picture`)
    const parts = page.getByRole('region', { name: 'Parts of the endpoint' }).getByRole('listitem')
    const names = await parts.locator('> a').allTextContents()
    assert.deepEqual(names, [
      'POST /lab/orders',
      'Read JSON',
      'patient',
      'visit',
      'rules',
      'Validate',
      'wards',
      'Transform',
      'Map to JSON',
      'Choose',
      'urgent',
      'routine',
      'Answer',
    ])
    // The lines say to the eye what the list says to readers of the screen.
    await parts
      .filter({ hasText: 'Choose' })
      .getByText('Followed by urgent (when), routine (when), Answer (if none is made)')
      .waitFor()
    const tops = await Promise.all(
      ['Read JSON', 'visit', 'Choose', 'Answer'].map(async (name) => {
        const box = await page.getByRole('link', { name, exact: true }).boundingBox()
        return box?.y ?? 0
      }),
    )
    assert.deepEqual(
      tops,
      tops.toSorted((one, other) => one - other),
    )
    await checkAccessibility()
    await parts
      .filter({ has: page.getByRole('link', { name: 'urgent', exact: true }) })
      .getByRole('link', { name: '2 failed' })
      .click()
    await page.waitForURL(/\/console\/messages\?group=/)
    await page.goBack()
    // A lookup opens where the form has it.
    await page.getByRole('link', { name: 'visit', exact: true }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/form\?path=requests\.lookup%5B1%5D/)
    const values = () => page.evaluate("[...document.querySelectorAll('input')].map(({ value }) => value)")
    await until(values, (all) => (all as string[]).includes('visit'))

    await page.getByRole('link', { name: 'Map', exact: true }).click()
    const map = page.getByRole('region', { name: 'Endpoints and what they share' })
    await map.getByText('12 in the last hour').waitFor()
    await checkAccessibility()
    await map.getByRole('link', { name: 'visits', exact: true }).click()
    await page.getByText('2 endpoints around visits.').waitFor()
    assert.deepEqual((await map.getByRole('listitem').locator('> a').allTextContents()).sort(), [
      'Admissions',
      'Discharges',
      'visits',
    ])
    await page.getByRole('link', { name: 'Show all endpoints' }).click()
    await page.getByRole('searchbox', { name: 'Search' }).fill('images')
    await page.getByText('1 endpoint.').waitFor()
    await page.getByRole('link', { name: 'Picture of Radiology' }).click()
    await page.getByRole('heading', { name: 'Picture of Radiology' }).waitFor()
  })

  test('scroll within their panels on a narrow screen', async (test) => {
    const { service, id, stop } = await startGraphService()
    test.after(stop)
    const { page, open, checkAccessibility } = await openConsole(test, { of: service, width: 360, colorScheme: 'dark' })
    for (const path of [`endpoints/${id}/picture`, 'picture']) {
      await open(path)
      await page.getByRole('listitem').first().waitFor()
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      )
      assert.equal(overflow, 0, path)
      await checkAccessibility()
    }
  })
})
