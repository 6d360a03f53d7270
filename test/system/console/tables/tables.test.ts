/** /tables in a real browser: the rows of a table, found, changed in place, pasted and uploaded, and its versions. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { json, type Service } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'
import { NO_BROWSER } from '../browser.ts'
import { type ConsoleOptions, openConsole } from '../console-page.ts'
import { paste } from './paste.ts'

const SEX = 'code,fhir,hl7\nM,male,M\nF,female,F\nU,unknown,U\n'

async function putTable(service: Service, name: string, csv: string, key?: string) {
  const headers = { 'content-type': 'text/csv', ...(key !== undefined && { authorization: `Bearer ${key}` }) }
  const reply = await fetch(`${service.adminUrl}/tables/${name}`, { method: 'PUT', headers, body: csv })
  assert.ok(reply.ok, await reply.text())
}

async function readCsv(service: Service, name: string): Promise<readonly string[]> {
  const reply = await fetch(`${service.adminUrl}/tables/${name}`, { headers: { accept: 'text/csv' } })
  return (await reply.text()).trim().split('\r\n')
}

async function openWithTable(test: TestContext, csv = SEX, options: ConsoleOptions = {}) {
  const opened = await openConsole(test, options)
  await putTable(opened.service, 'sex', csv, opened.keys?.author)
  return opened
}

describe('/tables', { skip: NO_BROWSER }, () => {
  test('says what tables are for, and makes one from a file', async (test) => {
    const { page, open, checkAccessibility, service } = await openConsole(test)
    await open('tables')
    await page.getByText('There are no tables yet').waitFor()
    await checkAccessibility()
    await page.getByRole('button', { name: 'New table …' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('File').setInputFiles({ name: 'sex 2.csv', mimeType: 'text/csv', buffer: Buffer.from(SEX) })
    assert.equal(await dialog.getByLabel('Name of the table').inputValue(), 'sex-2')
    await dialog.getByLabel('Name of the table').fill('sex')
    await checkAccessibility()
    await dialog.getByRole('button', { name: 'Show the changes' }).click()
    await dialog.getByText('3 rows added.').waitFor()
    await checkAccessibility()
    await dialog.getByLabel('Note').fill('From the registry')
    await dialog.getByRole('button', { name: 'Store' }).click()
    await page.getByRole('heading', { level: 1, name: 'Rows of sex' }).waitFor()
    await page.getByRole('row', { name: /F.*female/ }).waitFor()
    assert.deepEqual(await readCsv(service, 'sex'), SEX.trim().split('\n'))
    await page.getByRole('link', { name: 'Tables', exact: true }).first().click()
    await page.getByRole('row', { name: /sex.*3.*code, fhir, hl7.*1/ }).waitFor()
    await checkAccessibility()
  })

  test('makes no new table in place of another one', async (test) => {
    const { page, open, service } = await openWithTable(test)
    await open('tables')
    await page.getByRole('button', { name: 'New table …' }).click()
    const dialog = page.getByRole('dialog')
    const buffer = Buffer.from('code,fhir,hl7\nX,x,x\n')
    await dialog.getByLabel('File').setInputFiles({ name: 'sex.csv', mimeType: 'text/csv', buffer })
    await dialog.getByRole('button', { name: 'Show the changes' }).click()
    await dialog.getByText('There is a table "sex" already; nothing was stored.').waitFor()
    assert.deepEqual(await readCsv(service, 'sex'), SEX.trim().split('\n'))
  })

  test('reports each fault of a file with its line, and stores nothing', async (test) => {
    const { page, open, service } = await openWithTable(test)
    await open('tables/sex')
    await page.getByRole('button', { name: 'Upload …' }).click()
    const dialog = page.getByRole('dialog')
    const buffer = Buffer.from('code,fhir,hl7\nM,male\nF,female,F\nF,female,F\n')
    await dialog.getByLabel('File').setInputFiles({ name: 'sex.csv', mimeType: 'text/csv', buffer })
    await dialog.getByRole('button', { name: 'Show the changes' }).click()
    await dialog.getByText('line 2', { exact: true }).waitFor()
    await dialog.getByText('line 4', { exact: true }).waitFor()
    assert.equal((await readCsv(service, 'sex')).length, 4)
  })

  test('finds rows among a hundred thousand, a page at a time', async (test) => {
    const rows = Array.from({ length: 100_000 }, (_, at) => `C${at},display ${at % 1_000 === 7 ? 'Rare' : 'common'}`)
    const { page, open, checkAccessibility } = await openWithTable(test, ['code,display', ...rows].join('\n'))
    await open('tables/sex')
    await page.getByText('100 of 100,000').waitFor()
    await page.getByRole('button', { name: 'Show more' }).click()
    await page.getByText('200 of 100,000').waitFor()
    await page.getByLabel('Search').fill('rARE')
    await page.waitForURL(/search=rARE/)
    await page.getByText('100 of 100', { exact: true }).waitFor()
    await page.getByRole('row', { name: /C1007.*Rare/ }).waitFor()
    await page.getByLabel('Search').fill('C99999')
    await page.getByText('1 of 1', { exact: true }).waitFor()
    await checkAccessibility()
    await page.getByLabel('Search').fill('nowhere')
    await page.getByText('No row matches').waitFor()
  })

  test('changes cells in place, adds and deletes rows, by the keyboard too', async (test) => {
    const { page, open, checkAccessibility, service } = await openWithTable(test)
    await open('tables/sex')
    await page.getByRole('button', { name: /change fhir of F/ }).click()
    const field = page.getByLabel('fhir of F')
    await field.fill('feminine')
    await checkAccessibility()
    await field.press('Escape')
    await page.getByRole('button', { name: /female.*change fhir of F/ }).waitFor()
    await page.keyboard.press('k')
    await page.keyboard.press('j')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.keyboard.type('feminine')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: /feminine.*change fhir of F/ }).waitFor()
    // The cell has the focus again.
    await page.keyboard.press('Enter')
    await page.getByLabel('fhir of F').waitFor()
    await page.keyboard.press('Escape')
    assert.deepEqual(await readCsv(service, 'sex'), ['code,fhir,hl7', 'M,male,M', 'F,feminine,F', 'U,unknown,U'])
    // The key of another row is refused; a new one moves the row.
    await page.getByRole('button', { name: /change code of U/ }).click()
    await page.getByLabel('code of U').fill('M')
    await page.keyboard.press('Enter')
    await page.getByText('There is a row M already.').waitFor()
    await page.getByLabel('code of U').fill('X')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: /change code of X/ }).waitFor()
    await page.getByRole('button', { name: 'Add a row …' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('code').fill('A')
    await dialog.getByLabel('fhir').fill('other')
    await dialog.getByRole('button', { name: 'Show the changes' }).click()
    await dialog.getByText('1 row added.').waitFor()
    await dialog.getByRole('button', { name: 'Store' }).click()
    await page.getByRole('button', { name: /change code of A/ }).waitFor()
    await page.getByLabel('Select M').check()
    await page.getByLabel('Select X').check()
    await page.getByRole('button', { name: 'Delete 2 rows …' }).click()
    await checkAccessibility()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('2 in all').or(page.getByText('2 of 2')).waitFor()
    assert.deepEqual(await readCsv(service, 'sex'), ['code,fhir,hl7', 'F,feminine,F', 'A,other,'])
  })

  test('refuses a change of what somebody else has changed meanwhile, and keeps what was typed', async (test) => {
    const { page, open, service } = await openWithTable(test)
    await open('tables/sex')
    await page.getByRole('button', { name: /change fhir of F/ }).click()
    await page.getByLabel('fhir of F').fill('feminine')
    await putTable(service, 'sex', SEX.replace('unknown', 'other'))
    await page.getByLabel('fhir of F').press('Enter')
    await page.getByText('The table has changed since it was read').waitFor()
    assert.equal(await page.getByLabel('fhir of F').inputValue(), 'feminine')
  })

  test('pastes rows of a spreadsheet, after what they would change', async (test) => {
    const { page, open, checkAccessibility, service } = await openWithTable(test)
    await open('tables/sex')
    await page.getByRole('heading', { level: 1 }).click()
    await paste(page, 'hl7\tcode\nA\tX\n"O ""x"""\tU\nM\tM\n')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('1 row added, 1 row changed.').waitFor()
    await dialog.getByText('U · hl7').waitFor()
    await checkAccessibility()
    await dialog.getByRole('button', { name: 'Store' }).click()
    await page.getByRole('button', { name: /change code of X/ }).waitFor()
    assert.deepEqual(await readCsv(service, 'sex'), [
      'code,fhir,hl7',
      'M,male,M',
      'F,female,F',
      'U,unknown,"O ""x"""',
      'X,,A',
    ])
    await page.getByRole('button', { name: 'Paste rows …' }).click()
    await dialog.getByLabel('Rows').fill('Q\tqueer\tQ\tmore\n')
    await dialog.getByRole('button', { name: 'Show the changes' }).click()
    await dialog.getByText('The table has no column "column 4".').waitFor()
  })

  test('compares versions, restores one, deletes the table and brings it back', async (test) => {
    const { page, open, checkAccessibility, service } = await openWithTable(test)
    await putTable(service, 'sex', SEX.replace('male,M', 'man,M'))
    await open('tables/sex/versions')
    await page.getByText('2 rows changed.').or(page.getByText('1 row changed.')).waitFor()
    await checkAccessibility()
    await page.getByRole('button', { name: 'Restore version 1' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('M · fhir').waitFor()
    await checkAccessibility()
    await dialog.getByRole('button', { name: 'Store' }).click()
    await page.getByText('restored from 1').waitFor()
    assert.deepEqual(await readCsv(service, 'sex'), SEX.trim().split('\n'))
    await page.getByRole('button', { name: 'Delete table …' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete table' }).click()
    await page.getByText('There are no tables yet').waitFor()
    await open('tables/sex/versions')
    await page.getByRole('button', { name: 'Restore version 3' }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Delete table …' }).count(), 0)
    await page.getByRole('button', { name: 'Restore version 3' }).click()
    await dialog.getByText('The rows are the same.').waitFor()
    await dialog.getByRole('button', { name: 'Store' }).click()
    await page.getByText('restored from 3').waitFor()
    assert.deepEqual(await readCsv(service, 'sex'), SEX.trim().split('\n'))
  })

  test('says how many past messages a change maps otherwise', async (test) => {
    const { page, open, checkAccessibility, service } = await openWithTable(test, SEX, { env: { MESSAGE_LOG: 'all' } })
    await service.register({
      name: 'Patients',
      endpoint: { pattern: '/patients' },
      inputMapping: {
        'requestBody.sex': { key: 'sex', transform: { function: 'table', parameters: { table: 'sex' } } },
      },
    })
    for (const sex of ['M', 'F', 'M']) await service.fetch('/patients', json('POST', { sex }))
    await open('tables/sex')
    await page.getByRole('heading', { level: 1 }).click()
    await paste(page, 'code\tfhir\nM\tman\n')
    await page.getByRole('dialog').getByRole('button', { name: 'Store' }).click()
    await page.getByRole('link', { name: 'What it changes for past messages' }).click()
    await page.getByText(/3 of the newest messages read the table.*maps 2 of them otherwise than version 1/).waitFor()
    await checkAccessibility()
    await page.getByRole('link', { name: 'Show them' }).click()
    await until(
      () => page.locator('[data-row]').count(),
      (count) => count === 2,
    )
  })

  test('gives files of each format', async (test) => {
    const { page, open } = await openWithTable(test)
    await open('tables/sex')
    for (const [label, file] of [
      ['CSV', 'sex.csv'],
      ['FHIR ConceptMap', 'sex.fhir.json'],
      ['JSON', 'sex.json'],
    ] as const) {
      const download = page.waitForEvent('download')
      await page.getByRole('button', { name: `Download as ${label}` }).click()
      assert.equal((await download).suggestedFilename(), file)
    }
  })

  test('is beside an entry of the mapping view that reads it', async (test) => {
    const { page, open, checkAccessibility, service } = await openWithTable(test)
    const transform = { function: 'table', parameters: { table: 'sex', column: 'hl7' } }
    const { _id } = await service.register({
      name: 'Patients',
      endpoint: { pattern: '/patients' },
      inputMapping: { 'requestBody.sex': { key: 'gender', transform } },
    })
    await open(`endpoints/${_id}/mapping`)
    await page
      .getByRole('grid', { name: 'Entries' })
      .getByRole('row', { name: /requestBody\.sex/ })
      .click()
    const beside = page.getByRole('region', { name: 'Table sex' })
    await beside.getByText('3 of 3 rows').waitFor()
    await beside.getByLabel('Search the table').fill('unkn')
    await beside.getByRole('row', { name: 'U U' }).waitFor()
    await beside.getByText('1 of 1 rows').waitFor()
    await checkAccessibility()
    await beside.getByRole('link', { name: 'sex' }).click()
    await page.getByRole('heading', { level: 1, name: 'Rows of sex' }).waitFor()
  })

  test('shows viewers the rows, and no way to change them', async (test) => {
    const { page, open, checkAccessibility } = await openWithTable(test, SEX, { role: 'viewer' })
    await open('tables/sex')
    await page.getByRole('row', { name: /F.*female/ }).waitFor()
    assert.equal(await page.getByRole('button', { name: /change/ }).count(), 0)
    assert.equal(await page.getByRole('checkbox').count(), 0)
    await checkAccessibility()
    await page.getByRole('button', { name: 'Upload …' }).hover()
    await page.getByText('This needs the role author.').first().waitFor({ state: 'attached' })
  })

  test('reads as cards at 360 px', async (test) => {
    const { page, open, checkAccessibility } = await openWithTable(test, SEX, { width: 360, height: 800 })
    for (const path of ['tables', 'tables/sex', 'tables/sex/versions']) {
      await open(path)
      await page.getByText('sex').first().waitFor()
      await checkAccessibility()
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360, path)
    }
  })
})
