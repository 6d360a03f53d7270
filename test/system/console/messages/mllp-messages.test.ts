/** Messages of HL7 v2 over MLLP in the console: their source, their lines, and the ports that they come through. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { describe, test } from 'node:test'
import { admission, connectSender } from '../../../support/inbound/mllp/sender.ts'
import { startService } from '../../../support/service.ts'
import { freePort } from '../../../support/services/free-ports.ts'
import { NO_BROWSER } from '../browser.ts'
import { openConsole } from '../console-page.ts'

const hl7 = (name: string, port: number) => ({
  name,
  mllp: { port },
  messageLog: 'all',
  transformation: { input: 'HL7V2', output: 'JSON' },
  inputMapping: { 'requestBody.PID[0].3[0].1': 'patient' },
})

describe('messages over MLLP', { skip: NO_BROWSER }, () => {
  test('have their source, and a line for each segment; the bytes stay as they came', async (test) => {
    const service = await startService()
    test.after(() => service.stop())
    const port = await freePort()
    const { _id } = await service.register(hl7('Admissions', port))
    const sender = await connectSender(port)
    test.after(() => sender.socket.destroy())
    await sender.ask(admission('one'))
    const { page, open, checkAccessibility } = await openConsole(test, { of: service })
    await open('messages')
    await page.getByText('1 in all').waitFor()
    assert.match(await page.getByRole('row', { name: /Admissions/ }).innerText(), /Admissions\s+MLLP/)
    await page.getByRole('button', { name: 'More filters' }).click()
    await page.getByLabel('Source').selectOption('MLLP')
    await page.waitForURL(/source=mllp/)
    await page.getByText('1 in all').waitFor()
    await page.locator('[data-row]').click()
    await page.getByText('over MLLP', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Incoming body' }).click()
    // Of the message and of its answer.
    await page.getByText('application/hl7-v2', { exact: true }).nth(1).waitFor()
    const body = page.getByLabel('Incoming body', { exact: true })
    assert.equal(await body.textContent(), admission('one').replaceAll('\r', '\n'))
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download' }).click()
    const download = await downloading
    assert.match(download.suggestedFilename(), /-incoming\.hl7$/)
    assert.equal(readFileSync(await download.path(), 'utf8'), admission('one'))
    await checkAccessibility()
    await open(`endpoints/${_id}/edit`)
    await page.locator('.endpoint-head').getByText(`MLLP port ${port}`).waitFor()
    assert.match((await page.getByLabel('Body', { exact: true }).getAttribute('placeholder')) ?? '', /^MSH\|/)
  })

  test('need ports: one that cannot be opened is on the overview, before those that are open', async (test) => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    test.after(() => taken.close())
    const { port } = taken.address() as AddressInfo
    const { service, page, open, checkAccessibility } = await openConsole(test)
    const opened = await freePort()
    await service.register(hl7('Opened', opened))
    await service.register(hl7('Taken', port))
    await open('')
    const panel = page.getByRole('region', { name: 'Ports for MLLP' })
    await panel.getByText('failed').waitFor()
    const rows = await panel.getByRole('listitem').allInnerTexts()
    assert.equal(rows.length, 2)
    assert.match(rows[0] ?? '', new RegExp(`Port ${port}[^]*is in use already`))
    assert.match(rows[1] ?? '', new RegExp(`Port ${opened}[^]*open`))
    await checkAccessibility()
  })
})
