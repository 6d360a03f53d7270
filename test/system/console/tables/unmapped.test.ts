/** /unmapped in a real browser: from codes that tables lack to the replay of the messages that missed them. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { json, startUpstream } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'
import { NO_BROWSER } from '../browser.ts'
import { type ConsoleOptions, openConsole } from '../console-page.ts'
import { paste } from './paste.ts'

/** Codes that the tables do not have, with the number of messages that have them. */
const MISSED = { sex: { W: 12, D: 9, X: 4 }, ward: { '7B': 10, '9C': 5 } } as const
const CODES = Object.values(MISSED).flatMap((codes) => Object.keys(codes))
const MESSAGES = 40

/** A service whose endpoints missed codes of two tables; the upstream gets what was mapped. */
async function openWithMisses(test: TestContext, options: ConsoleOptions = {}) {
  const upstream = await startUpstream(() => ({ ok: true }))
  test.after(upstream.stop)
  const opened = await openConsole(test, { ...options, env: { MESSAGE_LOG: 'all', ...options.env } })
  const { service, keys } = opened
  const authorization = keys === undefined ? {} : { authorization: `Bearer ${keys.admin}` }
  const put = (name: string, csv: string) =>
    fetch(`${service.adminUrl}/tables/${name}`, {
      method: 'PUT',
      headers: { 'content-type': 'text/csv', ...authorization },
      body: csv,
    })
  assert.equal((await put('sex', 'code,fhir,hl7\nM,male,M\n')).status, 201)
  assert.equal((await put('ward', 'code,name\n1A,Surgery\n')).status, 201)
  for (const [table, codes] of Object.entries(MISSED)) {
    const document = {
      name: `Patients by ${table}`,
      endpoint: { pattern: `/by-${table}` },
      transformation: { input: 'JSON', output: 'JSON' },
      inputMapping: { 'requestBody.code': { key: 'is', transform: { function: 'table', parameters: { table } } } },
      requests: { response: [{ id: 'out', config: { method: 'POST', url: `${upstream.url}/${table}` } }] },
    }
    const init = json('POST', document)
    const headers = { ...(init.headers as Record<string, string>), ...authorization }
    const made = await fetch(`${service.adminUrl}/endpoints`, { ...init, headers })
    assert.equal(made.status, 201, await made.text())
    for (const [code, count] of Object.entries(codes)) {
      for (let sent = 0; sent < count; sent += 1) {
        assert.equal((await service.fetch(`/by-${table}`, json('POST', { code }))).status, 422)
      }
    }
  }
  return { ...opened, upstream }
}

describe('/unmapped', { skip: NO_BROWSER }, () => {
  test('says what it is for while there is nothing', async (test) => {
    const { page, open, checkAccessibility } = await openConsole(test)
    await open('unmapped')
    await page.getByText('There are no unmapped codes').waitFor()
    await checkAccessibility()
  })

  test('leads from 5 codes of 2 tables to the replay of 40 messages, all done', async (test) => {
    const { page, open, checkAccessibility, service, upstream } = await openWithMisses(test)
    await open('tables')
    await page.getByRole('row', { name: /sex.*3/ }).waitFor()
    await page.getByRole('link', { name: 'Unmapped codes', exact: true }).click()
    const list = page.getByRole('table', { name: 'Unmapped codes' })
    for (const [table, codes] of Object.entries(MISSED)) {
      for (const [code, count] of Object.entries(codes)) {
        await list
          .getByRole('row', { name: new RegExp(`${code}.*${table}.*${count}.*Patients by ${table}.*${count}`) })
          .waitFor()
      }
    }
    assert.equal(await list.getByRole('row').count(), 1 + CODES.length)
    await checkAccessibility()
    // Two columns of a spreadsheet, in another order, with a code that no message missed.
    await page.getByLabel('fhir of W in sex').click()
    await paste(page, 'X\tother\nD\tother\nW\tfemale\nQ\tunknown\n')
    await page.getByText('3 pasted; 1 of the lines is of no code that is listed.').waitFor()
    assert.equal(await page.getByLabel('fhir of D in sex').inputValue(), 'other')
    // One column, for one row after the other.
    await page.getByLabel('name of 7B in ward').click()
    await paste(page, 'Cardiology\nPaediatrics\n')
    await page.getByText('2 pasted.').waitFor()
    await checkAccessibility()
    await page.getByRole('button', { name: 'Fill 5 codes' }).click()
    await page.getByText('5 codes are filled; the messages that missed them were not replayed yet.').waitFor()
    await checkAccessibility()
    await page.getByRole('button', { name: 'Replay the messages that missed these …' }).click()
    await page.getByRole('heading', { name: 'Replay plan' }).waitFor()
    await page.getByText('Patients by ward').waitFor()
    await page.getByLabel(/One first, then the rest/).uncheck()
    await page.getByRole('button', { name: `Run (${MESSAGES})` }).click()
    await page.locator('.chip', { hasText: 'finished' }).waitFor()
    const values = upstream.received.map(({ body }) => (JSON.parse(body) as { is: string }).is).sort()
    const expected = [
      ...Array(12).fill('female'),
      ...Array(13).fill('other'),
      ...Array(10).fill('Cardiology'),
      ...Array(5).fill('Paediatrics'),
    ]
    assert.deepEqual(values, expected.sort())
    await page.getByRole('link', { name: 'Unmapped codes', exact: true }).click()
    await page.getByText('There are no unmapped codes').waitFor()
    const tables = await fetch(`${service.adminUrl}/tables/sex`, { headers: { accept: 'text/csv' } })
    assert.equal(await tables.text(), 'code,fhir,hl7\r\nM,male,M\r\nW,female,\r\nD,other,\r\nX,other,\r\n')
  })

  test('leads to messages of a code and back, and takes a code from the list', async (test) => {
    const { page, open, checkAccessibility } = await openWithMisses(test)
    await open('unmapped?table=sex')
    const list = page.getByRole('table', { name: 'Unmapped codes' })
    assert.equal(await list.getByRole('row').count(), 4)
    await list.getByRole('link', { name: /^X.*messages that missed/ }).click()
    await page.waitForURL(/missed=sex%3AX/)
    await page.getByText('4 of 4').or(page.getByText('4 in all')).waitFor()
    await page.locator('[data-row]').first().click()
    await page.getByRole('link', { name: /sex · fhir:X/ }).waitFor()
    await checkAccessibility()
    await page.getByRole('link', { name: /sex · fhir:X/ }).click()
    await page.getByRole('button', { name: 'Remove X of sex from the list' }).click()
    await until(
      () => list.getByRole('row').count(),
      (count) => count === 3,
    )
    await page.getByLabel('Endpoint').selectOption({ label: 'Patients by sex' })
    await page.waitForURL(/endpoint=/)
  })

  test('fills codes that lookups missed in the column that is chosen, never in the key', async (test) => {
    const { page, open, checkAccessibility, service } = await openConsole(test)
    const tables = { pair: 'local,loinc\nGLU,15074-8\n', labs: 'local,loinc,unit\nGLU,15074-8,mmol/L\n' }
    for (const [table, body] of Object.entries(tables)) {
      const headers = { 'content-type': 'text/csv' }
      assert.equal((await fetch(`${service.adminUrl}/tables/${table}`, { method: 'PUT', headers, body })).status, 201)
      const params = { query: { code: { path: 'payload.code' } } }
      const config = { url: `table://${table}`, params }
      await service.register({
        name: `Looks in ${table}`,
        endpoint: { pattern: `/in-${table}` },
        transformation: { input: 'JSON', output: 'JSON' },
        requests: { lookup: { id: 'row', config, allowedStatuses: ['2xx', 404] } },
        inputMapping: { 'lookupRequests.row.data.row.loinc': { key: 'is', default: 'none' } },
      })
      assert.equal((await service.fetch(`/in-${table}`, json('POST', { code: 'LL' }))).status, 200)
    }
    await open('unmapped')
    await page.getByLabel('loinc of LL in pair').fill('1-1')
    await page.getByText('Choose the column first').waitFor()
    await checkAccessibility()
    await page.getByLabel('Column of labs to fill').selectOption('unit')
    await page.getByLabel('unit of LL in labs').fill('mg/L')
    await page.getByRole('button', { name: 'Fill 2 codes' }).click()
    await page.getByText('2 codes are filled').waitFor()
    const read = async (name: string) =>
      (await fetch(`${service.adminUrl}/tables/${name}`, { headers: { accept: 'text/csv' } })).text()
    assert.equal(await read('pair'), 'local,loinc\r\nGLU,15074-8\r\nLL,1-1\r\n')
    assert.equal(await read('labs'), 'local,loinc,unit\r\nGLU,15074-8,mmol/L\r\nLL,,mg/L\r\n')
  })

  test('shows viewers the codes, and no way to fill them', async (test) => {
    const { page, open, checkAccessibility } = await openWithMisses(test, { role: 'viewer' })
    await open('unmapped')
    await page.getByRole('row', { name: /7B.*ward.*10/ }).waitFor()
    assert.equal(await page.getByLabel('name of 7B in ward').count(), 0)
    await checkAccessibility()
    await page.getByRole('button', { name: 'Fill' }).hover()
    await page.getByText('This needs the role author.').first().waitFor({ state: 'attached' })
  })

  test('reads as cards at 360 px', async (test) => {
    const { page, open, checkAccessibility } = await openWithMisses(test, { width: 360, height: 800 })
    await open('unmapped')
    await page.getByText('7B').first().waitFor()
    await checkAccessibility()
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360)
  })
})
