/** /messages: recorded messages in a real browser, of a real service with a real upstream. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { bearer } from '../../../support/api/access/service-with-keys.ts'
import { endpointDocument, json, startUpstream } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'
import { loaded, NO_BROWSER } from '../browser.ts'
import { openConsole } from '../console-page.ts'
import { openWithFailures, send } from '../failed-messages.ts'

describe('/messages', { skip: NO_BROWSER }, () => {
  test('finds messages by filters of the service, which stand in the URL', async (test) => {
    const { failed, page, open, checkAccessibility } = await openWithFailures(test)
    await open('messages')
    await page.getByText('4 in all').waitFor()
    await checkAccessibility()
    await page.getByLabel('Outcome').selectOption('refused')
    await page.waitForURL(/outcome=refused/)
    await page.getByText('3 in all').waitFor()
    await page.getByLabel('Business key').fill('patient:p-1')
    await page.keyboard.press('Enter')
    await page.getByText('1 in all').waitFor()
    // As the filter is written, and as a label is.
    await page.locator('.label-chip', { hasText: 'patient:p-1' }).waitFor()
    await page.getByLabel('Business key').fill('patient=p-0')
    await page.keyboard.press('Enter')
    await page.waitForURL(/p-0/)
    await page.locator('.label-chip', { hasText: 'patient:p-0' }).waitFor()
    await page.getByLabel('Endpoint', { exact: true }).fill('missi')
    await page.keyboard.press('Enter')
    await page.waitForURL(/endpoint=Admissions/)
    await page.getByText('1 in all').waitFor()
    await page.getByLabel('Endpoint', { exact: true }).fill('')
    await page.waitForURL((url) => !url.search.includes('endpoint'))
    await page.reload()
    await page.getByText('1 in all').waitFor()
    await page.getByLabel('Business key').fill('')
    await page.getByLabel('Text of the failure').fill('WARD is')
    await page.waitForURL(/from=-24h/)
    await page.getByText('Texts of failures are searched in the last 24 hours').waitFor()
    await page.getByText('3 in all').waitFor()
    await page.getByRole('button', { name: 'More filters' }).click()
    await page.getByLabel('Ids of messages').fill(`${failed[0]}, ${failed[2]}`)
    await page.keyboard.press('Enter')
    await page.getByText('2 in all').waitFor()
    await checkAccessibility()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByText('4 in all').waitFor()
  })

  test('shows new messages as they come when it is live, but not under the pointer', async (test) => {
    const { service, page, open, checkAccessibility } = await openConsole(test)
    await service.register({ name: 'Orders', endpoint: { pattern: '/orders' } })
    const rows = page.getByRole('table', { name: 'Messages' }).locator('tbody tr')
    const isListed = (count: number) =>
      until(
        () => rows.count(),
        (listed) => listed === count,
      )
    await service.fetch('/orders', json('POST', { nr: 1 }))
    await open('messages')
    await page.getByText('· live').waitFor()
    await isListed(1)
    await page.getByLabel('Live: show new messages as they come').check()
    await page.waitForURL(/live=on/)
    await service.fetch('/orders', json('POST', { nr: 2 }))
    await isListed(2)
    await rows.first().hover()
    await service.fetch('/orders', json('POST', { nr: 3 }))
    await page.getByRole('button', { name: '1 new: show' }).waitFor()
    assert.equal(await rows.count(), 2)
    await checkAccessibility()
    await page.getByRole('heading', { name: 'Messages' }).hover()
    await isListed(3)
  })

  test('shows the fault of a filter in the words of the service', async (test) => {
    const { page, open } = await openConsole(test)
    await open('messages?code=NO_SUCH_CODE')
    await page.getByText('There is no code "NO_SUCH_CODE"').waitFor()
    await page.getByText('FILTER_INVALID', { exact: true }).waitFor()
  })

  test('shows what happened to a message, and its bodies', async (test) => {
    const { failed, endpoint, page, open, checkAccessibility } = await openWithFailures(test)
    await open(`messages/${failed[0]}`)
    const detail = page.getByRole('region', { name: `Message ${failed[0]}` })
    await detail.getByText('Validation failed: /ward is required.').waitFor()
    await detail.getByRole('row', { name: /validate failed here/ }).waitFor()
    assert.equal(
      await detail.getByRole('link', { name: 'version 1' }).getAttribute('href'),
      `/console/endpoints/${endpoint._id}/versions?from=1`,
    )
    await detail.getByText('It has not been replayed.').waitFor()
    await detail.getByRole('button', { name: 'Incoming body' }).click()
    await page.waitForURL(/body=incoming/)
    await detail.getByLabel('Incoming body').getByText('"patient": "p-0"').waitFor()
    await checkAccessibility()
    const downloading = page.waitForEvent('download')
    await detail.getByRole('button', { name: 'Download' }).click()
    assert.equal((await downloading).suggestedFilename(), `${failed[0]}-incoming.json`)
    await detail.getByRole('button', { name: 'Debug in editor' }).click()
    await page.waitForURL(new RegExp(`/endpoints/${endpoint._id}/edit\\?message=${failed[0]}$`))
  })

  test('has no bodies that were not recorded, and records those of the next messages on request', async (test) => {
    const { service, page, open, checkAccessibility } = await openConsole(test, { env: { MESSAGE_LOG: 'failures' } })
    const { _id } = await service.register({ name: 'Orders', endpoint: { pattern: '/orders' } })
    const refused: string[] = []
    page.on('response', (response) => response.status() >= 400 && refused.push(response.url()))
    const first = await send(service, '/orders', { nr: 1 })
    await open(`messages/${first}`)
    await page.getByRole('button', { name: 'Record the next messages …' }).click()
    const dialog = page.getByRole('dialog', { name: 'Record the next messages' })
    await dialog.getByLabel('Messages').fill('0')
    await dialog.getByText('A whole number from 1 to 1,000.').waitFor()
    await dialog.getByLabel('Messages').fill('2')
    await dialog.getByRole('button', { name: 'Start recording' }).click()
    await dialog.getByText('0 of 2 recorded').waitFor()
    await checkAccessibility()
    await send(service, '/orders', { nr: 2 })
    await dialog.getByText('1 of 2 recorded').waitFor()
    await dialog.getByRole('button', { name: 'Stop recording' }).click()
    await dialog.getByText('of 2 recorded').waitFor({ state: 'detached' })
    await dialog.getByRole('button', { name: 'Close' }).click()
    await send(service, '/orders', { nr: 3 })
    await open(`endpoints/${_id}/stats`)
    await page.getByRole('button', { name: 'Record the next messages …' }).click()
    await dialog.getByRole('button', { name: 'Start recording' }).click()
    await dialog.getByText('0 of 10 recorded').waitFor()
    await dialog.getByRole('link', { name: 'The recorded messages' }).click()
    await page.waitForURL(/captured=true/)
    await open('messages?captured=true')
    await page.getByText('1 in all').waitFor()
    await page.locator('[data-row]').click()
    await page.getByText('recorded by a capture').waitFor()
    await page.getByRole('button', { name: 'Debug in editor' }).click()
    await page.waitForURL(new RegExp(`/endpoints/${_id}/edit`))
    // The browser reports each of them in its console.
    assert.deepEqual(refused, [])
  })

  test('replays a message: what will happen first, then what became of it', async (test) => {
    const { upstream, failed, endpoint, page, open, checkAccessibility } = await openWithFailures(test, 1)
    // A page of the endpoint and the dialog both read its row, in both orders.
    await open(`endpoints/${endpoint._id}/edit`)
    await page.getByRole('link', { name: 'Load a recorded one' }).click()
    await page.locator('[data-row]', { hasText: failed[0] ?? '' }).click()
    await page.getByRole('button', { name: 'Replay …' }).click()
    const dialog = page.getByRole('dialog', { name: 'Replay the message' })
    await dialog.getByText('as it is now (version 1)').waitFor()
    await open(`messages/${failed[0]}`)
    await page.getByRole('button', { name: 'Replay …' }).click()
    await dialog.getByText('as it is now (version 1)').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Debug in editor' }).click()
    await page.locator('.endpoint-head', { hasText: /POST http:.*\/admissions\/:siteversion 1/ }).waitFor()
    await page.goBack()
    await page.getByRole('button', { name: 'Replay …' }).click()
    await dialog.getByText('as it is now (version 1)').waitFor()
    assert.equal(upstream.received.length, 1)
    await dialog.getByLabel('With another body').check()
    await until(
      () => dialog.getByLabel('Body', { exact: true }).inputValue(),
      (text) => text.includes('p-0'),
    )
    await dialog.getByLabel('Body', { exact: true }).fill('{"patient":"p-0","ward":"9"}')
    await checkAccessibility()
    await dialog.getByRole('button', { name: 'Replay now' }).click()
    await dialog.getByRole('link', { name: 'Open the replay' }).click()
    await page.getByRole('heading', { name: /^Message / }).waitFor()
    assert.equal(upstream.received.length, 2)
    assert.equal(upstream.received[1]?.body, '{"subject":"p-0"}')
    const chain = page.getByRole('listitem').filter({ hasText: 'Replay 1' })
    await chain.and(page.locator('[aria-current]')).waitFor()
    await page.getByRole('link', { name: 'Received', exact: true }).click()
    await page.getByText('A replay of it ended done.').waitFor()
    await checkAccessibility()
  })

  test('shows a body as a tree, by keys and by search', async (test) => {
    const { service, page, open, checkAccessibility } = await openConsole(test, { env: { MESSAGE_LOG: 'all' } })
    await service.register({ name: 'Orders', endpoint: { pattern: '/orders' } })
    const lines = Array.from({ length: 250 }, (_none, index) => ({ code: `c${index}` }))
    const id = await send(service, '/orders', { patient: { 'a.b': 'x\u202ey' }, lines })
    await open(`messages/${id}?body=incoming`)
    await page.getByRole('button', { name: 'Tree', exact: true }).click()
    const tree = page.getByRole('treegrid', { name: /as a tree$/ })
    await tree.getByRole('row').first().waitFor()
    assert.equal(await tree.getByRole('row', { name: /^a\.b/ }).count(), 0)
    await checkAccessibility()
    await tree.getByRole('row', { name: /^patient/ }).click()
    await page.keyboard.press('ArrowRight')
    await tree.getByRole('row', { name: /^a\.b/ }).waitFor()
    assert.equal(await tree.locator('.hidden-character').count(), 1)
    await tree
      .getByRole('row', { name: /^lines/ })
      .getByRole('button')
      .click()
    await tree.getByText('Show more of 150 …').click()
    await tree.getByText('Show more of 50 …').waitFor()
    await page.getByLabel('Find').fill('C249')
    await page.keyboard.press('Enter')
    await page.getByText('1 of 1').waitFor()
    const hit = tree.getByRole('row', { selected: true })
    await until(
      async () => [await hit.boundingBox(), await tree.boundingBox()],
      ([row, all]) => row != null && all != null && row.y >= all.y && row.y + row.height <= all.y + all.height + 1,
    )
    await page.getByRole('button', { name: 'Copy path' }).click()
    await page.getByText('Path copied.').waitFor()
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), 'requestBody.lines[249].code')
    await checkAccessibility()
  })

  test('makes an endpoint of what a message needs that no endpoint took', async (test) => {
    const { service, page, open, checkAccessibility } = await openConsole(test)
    const reply = await service.fetch('/lab/ordres/17', json('PUT', {}))
    assert.match(reply.text, /No endpoint listens on PUT \/lab\/ordres\/17\./)
    await open(`messages/${reply.headers.get('x-crosswalk-message-id')}`)
    await page.getByText('No endpoint listens on PUT /lab/ordres/***.').last().waitFor()
    await page.getByRole('button', { name: 'Create an endpoint here …' }).click()
    const dialog = page.getByRole('dialog', { name: 'New endpoint' })
    await dialog.getByText('Messages are sent there by PUT.').waitFor()
    assert.equal(await dialog.getByLabel('Path').inputValue(), '/lab/ordres/:part1')
    await checkAccessibility()
    await dialog.getByLabel('Name').fill('Lab orders')
    await dialog.getByRole('button', { name: 'Create endpoint' }).click()
    await page.waitForURL(/\/edit/)
    assert.notEqual((await service.fetch('/lab/ordres/17', json('PUT', {}))).status, 404)
  })

  test('says in Debug and in lists why the target refused, and at which stage', async (test) => {
    const { service, page, open, checkAccessibility } = await openConsole(test, { env: { MESSAGE_LOG: 'all' } })
    const upstream = await startUpstream((_request, response) => {
      response.writeHead(422, { 'content-type': 'text/plain' }).end('no such ward')
      return undefined
    })
    test.after(upstream.stop)
    const { _id } = await service.register({
      name: 'Wards',
      endpoint: { pattern: '/wards' },
      requests: { response: [{ id: 'beds', config: { method: 'POST', url: `${upstream.url}/beds` } }] },
    })
    const id = await send(service, '/wards', { ward: '7' })
    const sentence = `beds answered 422 to POST ${upstream.url}/beds: no such ward`
    await open(`messages`)
    await page.getByRole('row').getByText(sentence).waitFor()
    await open(`endpoints/${_id}/edit?message=${id}`)
    const stage = page.locator('[data-stage="respond"].failed')
    await stage.getByRole('button', { name: sentence }).waitFor()
    await checkAccessibility()
    // Pseudonyms are no multiple of 7919: the message would end otherwise than it did.
    const divided = await service.register({
      name: 'Checked',
      endpoint: { pattern: '/checked' },
      inputTransforms: { check: '$assert(requestBody.nr % 7919 = 0, "no number of ours")' },
    })
    const checked = await send(service, '/checked', { nr: 7919 * 4321 })
    await open(`endpoints/${divided._id}/edit?message=${checked}`)
    await page.getByRole('button', { name: 'Save as test' }).click()
    const dialog = page.getByRole('dialog', { name: 'Save as test' })
    const save = dialog.getByRole('button', { name: 'Save the test' })
    await save.and(page.locator('[aria-disabled="true"]')).waitFor()
    await save.focus()
    await page.getByRole('tooltip', { name: /With pseudonyms the message ends otherwise/ }).waitFor()
    await dialog.getByRole('radio', { name: /As they are/ }).check()
    await dialog.getByRole('button', { name: 'Save the test' }).and(page.locator(':not([aria-disabled])')).click()
    await page.getByText('is saved.').waitFor()
  })

  test('gives a message as a command of curl that sends it again', async (test) => {
    const { failed, page, open, checkAccessibility } = await openWithFailures(test, 1)
    await open(`messages/${failed[0]}`)
    await page.getByRole('button', { name: 'Copy as curl …' }).click()
    const dialog = page.getByRole('dialog', { name: 'Copy as curl' })
    await dialog.getByText('Secret headers').waitFor()
    const command = await dialog.getByLabel('Command').textContent()
    assert.match(command ?? '', /^curl -sS --globoff -X 'POST' 'http:\/\/127\.0\.0\.1:\d+\/admissions\/north\?day=1'/)
    assert.match(command ?? '', /--data-raw '\{"patient":"p-0"\}'$/)
    await checkAccessibility()
  })

  test('says of each action that a role may not do which role it needs', async (test) => {
    const { service, keys, page, open, checkAccessibility } = await openConsole(test, { role: 'viewer' })
    const document = endpointDocument({ endpoint: { pattern: '/orders' }, inputValidation: { required: ['id'] } })
    const { status } = await service.fetch('/endpoints', json('POST', document, bearer(keys?.author ?? '')))
    assert.equal(status, 201)
    await open(`messages/${await send(service, '/orders', {})}`)
    for (const name of ['Debug in editor', 'Replay …', 'Copy as curl …', 'Incoming body']) {
      const button = page.getByRole('button', { name })
      await button.and(page.locator('[aria-disabled="true"]')).waitFor()
      await button.focus()
      await page.getByRole('tooltip', { name: /This needs the role operator\. Your role is viewer\./ }).waitFor()
    }
    await page.keyboard.press('Escape')
    await page.getByRole('tooltip').waitFor({ state: 'detached' })
    await checkAccessibility()
  })

  test('shows a message in place of the list where there is no room for both', async (test) => {
    const { failed, page, open, checkAccessibility } = await openWithFailures(test, 3, { width: 360, height: 800 })
    await open('messages')
    await page.getByText('4 in all').waitFor()
    await checkAccessibility()
    await page.locator('[data-row]').nth(1).click()
    await page.waitForURL(new RegExp(`/messages/${failed[2]}$`))
    await page
      .getByRole('region', { name: /^Message/ })
      .getByText('/ward is required.')
      .waitFor()
    await loaded(page)
    await checkAccessibility()
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360)
    await page.getByRole('link', { name: 'Close' }).click()
    await page.getByText('4 in all').waitFor()
  })
})
