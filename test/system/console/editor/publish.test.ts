/** Publishing where tests of an endpoint must pass, and from the mapping view. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  bearer,
  JSON_TYPE,
  type ServiceWithKeys,
  startServiceWithKeys,
} from '../../../support/api/access/service-with-keys.ts'
import { endpointDocument, json } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'
import { loaded, NO_BROWSER, signIn } from '../browser.ts'
import { openConsole } from '../console-page.ts'
import { replaceInLine } from '../editor-page.ts'

const GOOD = { name: 'the number', given: { message: { body: { nr: 1 } } }, expect: { answer: { body: { nr: 1 } } } }

describe('publishing', { skip: NO_BROWSER }, () => {
  let given: ServiceWithKeys
  const call = (method: string, path: string, body?: object) =>
    fetch(`${given.service.adminUrl}${path}`, {
      method,
      headers: { ...JSON_TYPE, ...bearer(given.keys.admin) },
      ...(body && { body: JSON.stringify(body) }),
    })
  /** Out: the id of an endpoint whose one test passes. */
  const tested = async (pattern: string): Promise<string> => {
    const document = endpointDocument({
      endpoint: { pattern },
      inputValidation: { type: 'object', required: ['nr'] },
      inputMapping: { 'requestBody.nr': 'nr' },
    })
    const { _id } = (await (await call('POST', '/endpoints', document)).json()) as { _id: string }
    assert.equal((await call('PUT', `/endpoints/${_id}/tests`, { tests: [GOOD] })).status, 200)
    return _id
  }
  before(async () => {
    given = await startServiceWithKeys({ TESTS_ON_CHANGE: 'require', MESSAGE_LOG: 'all' })
  })
  after(() => given.service.stop())

  for (const role of ['author', 'admin'] as const) {
    test(`of a document whose tests fail is refused; as ${role}`, async (t) => {
      const id = await tested(`/tested-by-${role}`)
      const { page, checkAccessibility } = await openConsole(t, { of: given.service })
      await page.goto(`/console/endpoints/${id}/edit`)
      await signIn(page, given.keys[role])
      await loaded(page)
      await replaceInLine(page, '"requestBody.nr": "nr"', '"requestBody.nr": "number"')
      await page.keyboard.press('Control+s')
      const dialog = page.getByRole('dialog', { name: 'Publish' })
      await dialog.getByText('0 passed, 1 failed').waitFor()
      await dialog.getByText('the number').waitFor()
      await dialog.getByRole('button', { name: 'Publish', exact: true }).click()
      await dialog.getByText('TESTS_FAILED').waitFor()
      await checkAccessibility()
      const override = dialog.getByRole('button', { name: 'Publish although tests fail' })
      if (role === 'author') {
        await dialog.getByText('Somebody with the role admin may publish').waitFor()
        assert.equal(await override.count(), 0)
        const stored = (await (await call('GET', `/endpoints/${id}`)).json()) as { inputMapping: object }
        assert.deepEqual(stored.inputMapping, { 'requestBody.nr': 'nr' })
        return
      }
      assert.equal(await override.getAttribute('aria-disabled'), 'true')
      await dialog.getByLabel('Reason to publish').fill('The upstream has renamed it – März')
      await override.click()
      await page.getByText('Published as version 2').waitFor()
      const versions = (await (await call('GET', `/endpoints/${id}/versions`)).json()) as {
        origin: { testsOverride?: string }
      }[]
      assert.equal(versions[0]?.origin.testsOverride, 'The upstream has renamed it – März')
    })
  }

  test('says each fault once, and offers no retry of what would be refused again', async (t) => {
    const id = await tested('/with-a-fault')
    const { page, checkAccessibility } = await openConsole(t, { of: given.service })
    await page.goto(`/console/endpoints/${id}/edit`)
    await signIn(page, given.keys.author)
    await loaded(page)
    await replaceInLine(page, '"requestBody.nr": "nr"', '"requestBody.nr": 17')
    await page.getByRole('region', { name: 'Faults' }).getByText('1 fault').waitFor()
    await page.keyboard.press('Control+s')
    const dialog = page.getByRole('dialog', { name: 'Publish' })
    await dialog.getByText('The changes are compared and the tests run').waitFor()
    await loaded(page)
    const faults = await dialog.getByRole('listitem').allInnerTexts()
    assert.equal(faults.length, 1)
    assert.match(faults[0] ?? '', /^inputMapping/)
    assert.equal(await dialog.getByRole('alert').count(), 0)
    assert.equal(await dialog.getByRole('button', { name: 'Retry' }).count(), 0)
    await checkAccessibility()
  })

  test('works from the mapping view, where the draft is the same, and leads back to the failures', async (t) => {
    const id = await tested('/from-the-mapping')
    const { headers } = await given.service.fetch('/from-the-mapping', json('POST', {}))
    const message = headers.get('x-crosswalk-message-id') ?? ''
    await until(
      async () => (await call('GET', `/messages/${message}`)).status,
      (status) => status === 200,
    )
    const { page, checkAccessibility } = await openConsole(t, { of: given.service })
    await page.goto(`/console/endpoints/${id}/mapping?message=${message}`)
    await signIn(page, given.keys.author)
    await loaded(page)
    await page.getByText('as stored').waitFor()
    const entries = page.getByRole('grid', { name: 'Entries' })
    await entries.getByRole('row', { name: /requestBody.nr to nr/ }).click()
    await page.getByRole('region', { name: 'Selected entry' }).getByLabel('Default, as JSON').fill('7')
    await page.keyboard.press('Enter')
    await page.getByText('draft with changes').waitFor()
    await page.keyboard.press('Control+s')
    const dialog = page.getByRole('dialog', { name: 'Publish' })
    await dialog.getByText('1 passed, 0 failed').waitFor()
    await checkAccessibility()
    await dialog.getByLabel('Note').fill('a default')
    await dialog.getByRole('button', { name: 'Publish', exact: true }).click()
    await page.getByText('Published as version 2').waitFor()
    await page.getByText('as stored').waitFor()
    const stored = (await (await call('GET', `/endpoints/${id}`)).json()) as { inputMapping: object }
    assert.deepEqual(stored.inputMapping, { 'requestBody.nr': { key: 'nr', default: 7 } })
    await page.getByRole('link', { name: 'Failures that are alike' }).click()
    await page.getByRole('heading', { name: 'Failures: VALIDATION_FAILED' }).waitFor()
  })
})
