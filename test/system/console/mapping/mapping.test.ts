/** /endpoints/:id/mapping in a real browser. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import type { JsonObject } from '../../../../src/core/json.ts'
import { bearer, JSON_TYPE, startServiceWithKeys } from '../../../support/api/access/service-with-keys.ts'
import { call } from '../../../support/inbound/http/management/call.ts'
import { endpointDocument, json } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'
import { NO_BROWSER, signIn } from '../browser.ts'
import { openConsole } from '../console-page.ts'

const MESSAGE = {
  id: 17,
  patient: { family: 'Doe', given: ['Jane', 'Q'], birthDate: '1980-02-03' },
  lines: [
    { nr: 1, code: 'a' },
    { nr: 2, code: 'b' },
  ],
}
const MAPPING = { 'requestBody.id': 'id', 'requestBody.lines[].nr': 'list[].number', 'requestBody.gone': 'gone' }

/** An endpoint that has taken one message, open in the mapping view with this message. */
async function openMapping(
  test: TestContext,
  inputMapping: JsonObject = MAPPING,
  body: JsonObject = MESSAGE,
  view = {},
) {
  const opened = await openConsole(test, { env: { MESSAGE_LOG: 'all' }, ...view })
  const { service } = opened
  const { _id: id } = await service.register({ name: 'Orders', endpoint: { pattern: '/orders' }, inputMapping })
  await service.fetch('/orders', json('POST', body))
  const list = async () =>
    (await fetch(`${service.adminUrl}/messages`)).json() as Promise<{ messages: { id: string }[] }>
  const { messages } = await until(list, (now) => now.messages.length > 0)
  const message = messages[0]?.id ?? ''
  await opened.open(`endpoints/${id}/mapping?message=${message}`)
  await opened.page.getByText('ran dry on').waitFor()
  return { ...opened, id, message }
}

/** The mapping as the draft has it, which a reload keeps. */
async function draftOf(page: Page, id: string): Promise<string> {
  const read = () => page.evaluate((name) => sessionStorage.getItem(name), `crosswalk-draft:${id}`)
  const kept = await until(read, (text) => text !== null)
  return (JSON.parse(kept ?? '') as { text: string }).text
}

const source = (page: Page, name: string) =>
  page.getByRole('treegrid', { name: 'Can be read' }).getByRole('row', { name, exact: true })
const target = (page: Page, name: string) =>
  page.getByRole('treegrid', { name: 'Target' }).getByRole('row', { name, exact: true })

/** Three ways to connect `family` with `code`. */
const BY_HAND: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  'a drag': async (page) => {
    await source(page, 'family').dragTo(target(page, 'code'))
  },
  'a drag by keys': async (page) => {
    await source(page, 'family').click()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await target(page, 'code')
      .and(page.locator('[data-drop-target]'))
      .or(page.locator('[data-drop-target]'))
      .first()
      .waitFor()
    for (let step = 0; step < 10; step += 1) {
      const name = await page.evaluate('document.activeElement?.getAttribute("aria-label") ?? ""')
      if (String(name).includes('code')) break
      await page.keyboard.press('ArrowDown')
    }
    await page.keyboard.press('Enter')
  },
  M: async (page) => {
    await source(page, 'family').click()
    await page.keyboard.press('m')
    await page.getByRole('combobox', { name: 'Target of requestBody.patient.family' }).fill('subject.code')
    await page.keyboard.press('Escape')
  },
}

/** Another entry writes `code` already, so each way asks first. */
async function confirm(page: Page, says = 'requestBody.patient.birthDate writes subject.code already.'): Promise<void> {
  const dialog = page.getByRole('dialog')
  await dialog.getByText(says).waitFor()
  await dialog.getByRole('button', { name: 'Connect', exact: true }).click()
}

const SMALL = { 'requestBody.id': 'id', 'requestBody.patient.birthDate': ['subject.code', 'subject.born'] }

describe('/endpoints/:id/mapping', { skip: NO_BROWSER }, () => {
  test('shows fields, lines and coverage of a message', async (test) => {
    const { page, checkAccessibility } = await openMapping(test)
    await source(page, 'birthDate').getByText('1980-02-03').waitFor()
    await page.getByRole('button', { name: /fields not read/ }).waitFor()
    await checkAccessibility()
  })

  describe('a connection', () => {
    const made: string[] = []
    for (const [way, connect] of Object.entries(BY_HAND)) {
      test(`by ${way}`, async (test) => {
        const { page, id } = await openMapping(test, SMALL)
        await connect(page)
        await confirm(page)
        await page.getByRole('region', { name: 'Selected entry' }).waitFor()
        made.push(await draftOf(page, id))
      })
    }
    test('is the same document in each way', () => {
      assert.equal(made.length, 3)
      assert.match(made[0] ?? '', /"requestBody.patient.family": "subject.code"/)
      assert.deepEqual(new Set(made).size, 1)
    })
  })

  test('asks what is meant where the lists of two fields differ, and shows what each choice writes', async (test) => {
    const { page, id, checkAccessibility } = await openMapping(test)
    await source(page, 'nr').dragTo(target(page, 'id'))
    const dialog = page.getByRole('dialog', { name: 'How to connect' })
    await dialog.getByText('the first value only').waitFor()
    await dialog.locator('.choice').first().getByText('/id').waitFor()
    // `requestBody.id` writes a single value there.
    await dialog
      .locator('.choice')
      .nth(1)
      .getByText('needs a list where an earlier entry wrote a single value')
      .waitFor()
    await checkAccessibility()
    await dialog.getByText('the list of all values').click()
    await dialog.getByLabel('Target path').fill('numbers')
    await dialog.getByRole('button', { name: 'Connect', exact: true }).click()
    assert.match(await draftOf(page, id), /"requestBody.lines\[\].nr": \["list\[\].number", "numbers"\]/)
  })

  test('changes and removes an entry, and undoes it', async (test) => {
    const { page, id, checkAccessibility } = await openMapping(test)
    await page
      .getByRole('grid', { name: 'Entries' })
      .getByRole('row', { name: /requestBody.id to id/ })
      .click()
    const detail = page.getByRole('region', { name: 'Selected entry' })
    await detail.getByLabel('Target path').fill('nr')
    await page.keyboard.press('Enter')
    await until(
      () => draftOf(page, id),
      (text) => text.includes('"requestBody.id": "nr"'),
    )
    await detail.getByLabel('Function').selectOption('stringify')
    await detail.getByLabel('Default, as JSON').fill('none')
    await page.keyboard.press('Enter')
    await detail.getByText('A default is JSON').waitFor()
    await detail.getByLabel('Default, as JSON').fill('"none"')
    await page.keyboard.press('Tab')
    const whole = '"requestBody.id": { "key": "nr", "transform": "stringify", "default": "none" }'
    await until(
      () => draftOf(page, id),
      (text) => text.includes(whole),
    )
    await detail.getByText('"17"').waitFor()
    await checkAccessibility()
    await page
      .getByRole('grid', { name: 'Entries' })
      .getByRole('row', { name: /requestBody.id to nr/ })
      .click()
    await page.keyboard.press('Delete')
    await until(
      () => draftOf(page, id),
      (text) => !text.includes('requestBody.id'),
    )
    for (let step = 0; step < 4; step += 1) await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('row', { name: /requestBody.id to id/ }).waitFor()
    await page.getByRole('link', { name: 'Open in the editor', exact: true }).waitFor()
    // Nothing is left to keep: the text is that of the stored document again, byte by byte.
    await until(
      () => page.evaluate((name) => sessionStorage.getItem(name), `crosswalk-draft:${id}`),
      (kept) => kept === null,
    )
  })

  test('takes the fields of an output, and suggests entries that are ticked one by one', async (test) => {
    const { page, id, checkAccessibility } = await openMapping(test)
    await page.getByRole('button', { name: 'Fields of the output' }).click()
    const output = { familyName: 'x', born: '2000-01-01', lines: [{ code: 'x' }] }
    await page.getByRole('dialog').getByLabel('Text').fill(JSON.stringify(output))
    await page.getByRole('button', { name: 'Show its fields' }).click()
    await target(page, 'familyName').waitFor()
    await page.getByRole('link', { name: 'Editor', exact: true }).click()
    await page.waitForURL(/\/edit\?message=/)
    await page.getByRole('link', { name: 'Mapping', exact: true }).click()
    await page.getByRole('button', { name: 'Change the fields of the output' }).waitFor()
    await target(page, 'familyName').waitFor()
    await page.getByRole('button', { name: 'Suggest entries' }).click()
    const dialog = page.getByRole('dialog', { name: 'Suggested entries' })
    await dialog.getByText('requestBody.lines[].code').waitFor()
    await checkAccessibility()
    await dialog.getByRole('checkbox', { name: /lines\[\].code/ }).check()
    await dialog.getByRole('button', { name: 'Add 1 entry' }).click()
    const text = await draftOf(page, id)
    assert.deepEqual((JSON.parse(text) as { inputMapping: object }).inputMapping, {
      ...MAPPING,
      'requestBody.lines[].code': 'lines[].code',
    })
  })

  test('marks entries that write one place, and a type that does not fit the output', async (test) => {
    const { page, checkAccessibility } = await openMapping(test, {
      'requestBody.id': 'id',
      'requestBody.patient.family': 'id',
    })
    const entries = page.getByRole('grid', { name: 'Entries' })
    await entries.getByText('requestBody.patient.family writes id too.').waitFor()
    await entries.getByText('This writes the same target as inputMapping.requestBody\\.id').waitFor()
    await page.getByRole('button', { name: 'Fields of the output' }).click()
    await page.getByRole('dialog').getByLabel('Text').fill('{ "id": 1 }')
    await page.getByRole('button', { name: 'Show its fields' }).click()
    await entries.getByRole('row', { name: /family to id/ }).click()
    const detail = page.getByRole('region', { name: 'Selected entry' })
    await detail.getByText('It writes a text, but the output has a number here.').waitFor()
    await checkAccessibility()
  })

  test('begins an each for a list, and shows, changes and removes its entries inside it', async (test) => {
    const { page, id, checkAccessibility } = await openMapping(test, { 'requestBody.id': 'id' })
    await source(page, 'lines').click()
    await page.getByRole('button', { name: 'Map each element …' }).click()
    const dialog = page.getByRole('dialog', { name: 'Each of requestBody.lines[]' })
    const fill = async (label: string, text: string) => {
      await dialog.getByRole('combobox', { name: label }).fill(text)
      await page.keyboard.press('Tab')
    }
    await fill('List of the output', 'list[]')
    await fill('Source in each element', 'item.nr')
    await fill('Target in each element', 'number')
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    const entries = page.getByRole('grid', { name: 'Entries' })
    await page.getByText('Entries (3)').waitFor()
    await page.getByRole('button', { name: 'Add an entry to it …' }).click()
    await fill('Source in each element', 'item.code')
    await fill('Target in each element', 'code')
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    const detail = page.getByRole('region', { name: 'Selected entry' })
    await detail.getByText('wrote at 2 places').waitFor()
    await detail.getByLabel('Target path').fill('letter')
    await page.keyboard.press('Enter')
    await until(
      () => draftOf(page, id),
      (text) => text.includes('"each": { "item.nr": "number", "item.code": "letter" }'),
    )
    await detail.getByText('/list/1/letter').waitFor()
    await page.locator('.line.selected').waitFor({ state: 'attached' })
    await checkAccessibility()
    await entries.getByRole('row', { name: 'item.nr to number in each of requestBody.lines[]' }).click()
    await page.keyboard.press('Delete')
    await until(
      () => draftOf(page, id),
      (text) => text.includes('"each": { "item.code": "letter" }'),
    )
  })

  const NESTED = {
    id: 1,
    orders: [
      { nr: 7, codes: [{ v: 'a' }, { v: 'b' }] },
      { nr: 8, codes: [{ v: 'c' }] },
    ],
  }
  for (const way of ['mouse', 'keyboard']) {
    test(`maps lists in lists by an each inside another, and moves entries, by ${way}`, async (test) => {
      const { page, id, checkAccessibility } = await openMapping(test, { 'requestBody.id': 'id' }, NESTED)
      const press = async (name: string, from: Page | Locator = page) => {
        const button = from.getByRole('button', { name, exact: true })
        if (way === 'mouse') return button.click()
        await button.focus()
        await page.keyboard.press('Enter')
      }
      const dialog = page.getByRole('dialog')
      const fill = async (label: string, text: string) => {
        await dialog.getByRole('combobox', { name: label }).fill(text)
        await page.keyboard.press('Tab')
      }
      const detail = page.getByRole('region', { name: 'Selected entry' })
      const mapped = async (isDone: (text: string) => boolean) =>
        (JSON.parse(await until(() => draftOf(page, id), isDone)) as { inputMapping: object }).inputMapping
      await press('Fields of the output …')
      const output = { list: [{ nr: 0, parts: [{ value: '', owner: 0 }] }] }
      await dialog.getByLabel('Text', { exact: true }).fill(JSON.stringify(output))
      await press('Show its fields', dialog)
      await dialog.waitFor({ state: 'detached' })
      // A field in lists of lists, onto one in lists of lists.
      if (way === 'mouse') await source(page, 'v').dragTo(target(page, 'value'))
      else {
        await source(page, 'v').focus()
        await page.keyboard.press('m')
        await fill('Target of requestBody.orders[].codes[].v', 'list[].parts[].value')
      }
      const first = dialog.locator('.choice').first()
      await first.getByText('/list/1/parts/0/value').waitFor()
      await checkAccessibility()
      await press('Connect', dialog)
      const each = { 'item.codes[].v': 'parts[].value' }
      assert.deepEqual(await mapped((text) => text.includes('"each"')), {
        'requestBody.id': 'id',
        'requestBody.orders[]': { key: 'list[]', each },
      })
      // Another one in it needs no question.
      if (way === 'mouse') await source(page, 'nr').dragTo(target(page, 'nr'))
      else {
        await source(page, 'nr').focus()
        await page.keyboard.press('m')
        await fill('Target of requestBody.orders[].nr', 'list[].nr')
        await press('Connect', dialog)
      }
      await detail.getByText('/list/1/nr').waitFor()
      assert.deepEqual(await mapped((text) => text.includes('item.nr')), {
        'requestBody.id': 'id',
        'requestBody.orders[]': { key: 'list[]', each: { ...each, 'item.nr': 'nr' } },
      })
      // Out of the each, and into it again.
      const inside = detail.getByLabel('Inside')
      await inside.selectOption('')
      await until(
        () => draftOf(page, id),
        (text) => text.includes('"requestBody.orders[].nr": "list[].nr"'),
      )
      await detail.getByText('/list/1/nr').waitFor()
      await inside.selectOption({ label: 'Each of requestBody.orders[] → list[]' })
      await until(
        () => draftOf(page, id),
        (text) => text.includes('"item.nr": "nr"'),
      )
      await page.getByRole('row', { name: 'requestBody.id to id', exact: true }).click()
      await inside.selectOption({ label: 'Each of requestBody.orders[] → list[]' })
      await detail.getByText('id is not in list[], where this "each" writes.').waitFor()
      await checkAccessibility()
      // An each that begins inside the other.
      await page.getByRole('row', { name: 'item.codes[].v to parts[].value in each of requestBody.orders[]' }).click()
      await press('Remove', detail)
      await source(page, 'codes').click()
      await press('Map each element …')
      await fill('List of the output', 'list[].parts[]')
      await dialog.getByText('It begins inside the entries for each of requestBody.orders[].').waitFor()
      await fill('Source in each element', 'item.v')
      await fill('Target in each element', 'value')
      await press('Add', dialog)
      await press('Add an entry to it …')
      await fill('Source in each element', 'outer.nr')
      await fill('Target in each element', 'owner')
      await press('Add', dialog)
      await detail.getByText('/list/1/parts/0/owner').waitFor()
      assert.deepEqual(await mapped((text) => text.includes('outer.nr')), {
        'requestBody.id': 'id',
        'requestBody.orders[]': {
          key: 'list[]',
          each: {
            'item.nr': 'nr',
            'item.codes[]': { key: 'parts[]', each: { 'item.v': 'value', 'outer.nr': 'owner' } },
          },
        },
      })
      await checkAccessibility()
    })
  }

  test('takes a JSON Schema as the output, and says what is wrong with another text', async (test) => {
    const { page, id, checkAccessibility } = await openMapping(test)
    await page.getByRole('button', { name: 'Fields of the output' }).click()
    const dialog = page.getByRole('dialog', { name: 'Fields of the output' })
    await dialog.getByLabel('Kind').selectOption('schema')
    await dialog.getByLabel('Text').fill('{ "type": ')
    await dialog.getByRole('button', { name: 'Show its fields' }).click()
    await dialog.getByText('The text is not JSON').waitFor()
    const item = { type: 'object', required: ['total'], properties: { total: { type: 'number' } } }
    const properties = { surname: { type: 'string' }, rows: { type: 'array', items: item } }
    const schema = { type: 'object', required: ['surname', 'rows'], properties }
    await dialog.getByLabel('Text').fill(JSON.stringify(schema))
    await dialog.getByRole('button', { name: 'Show its fields' }).click()
    await target(page, 'total').waitFor()
    await source(page, 'family').dragTo(target(page, 'surname'))
    assert.match(await draftOf(page, id), /"requestBody.patient.family": "surname"/)
    await page.getByRole('button', { name: '1 of 2 required fields are written' }).click()
    await target(page, 'surname').waitFor({ state: 'detached' })
    await target(page, 'total').getByText('required').waitFor()
    assert.equal(await source(page, 'family').count(), 1)
    await checkAccessibility()
  })

  test('takes a resource of FHIR as the output, whose objects have their fields once they are opened', async (test) => {
    const { page, id, checkAccessibility } = await openMapping(test)
    await page.getByRole('button', { name: 'Fields of the output' }).click()
    const dialog = page.getByRole('dialog', { name: 'Fields of the output' })
    await dialog.getByLabel('Kind').selectOption('fhir')
    const resource = dialog.getByRole('combobox', { name: 'Resource' })
    await resource.fill('Observations')
    await page.keyboard.press('Tab')
    await dialog.getByRole('button', { name: 'Show its fields' }).click()
    await dialog.getByText("FHIR R4 has no type 'Observations'").waitFor()
    await resource.fill('Observation')
    await page.keyboard.press('Tab')
    await dialog.getByRole('button', { name: 'Show its fields' }).click()
    await page.getByRole('button', { name: '0 of 3 required fields are written' }).waitFor()
    // By mouse and by keyboard.
    await target(page, 'meta').getByRole('button').click()
    await target(page, 'profile').waitFor()
    await target(page, 'meta').getByRole('button').click()
    await target(page, 'profile').waitFor({ state: 'detached' })
    await target(page, 'meta').focus()
    await page.keyboard.press('ArrowRight')
    await target(page, 'profile').waitFor()
    await page.keyboard.press('ArrowLeft')
    await target(page, 'profile').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: '0 of 3 required fields are written' }).click()
    await target(page, 'code').getByText('CodeableConcept').waitFor()
    // The fields of an object that is opened stay, though the filter asks for others.
    await target(page, 'code').getByRole('button').click()
    await target(page, 'coding').waitFor()
    await source(page, 'birthDate').dragTo(target(page, 'text'))
    await page.getByRole('button', { name: '1 of 3 required fields are written' }).waitFor()
    await target(page, 'coding').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Undo', exact: true }).click()
    await page.getByRole('button', { name: '0 of 3 required fields are written' }).waitFor()
    await source(page, 'family').dragTo(target(page, 'status'))
    assert.match(await draftOf(page, id), /"requestBody.patient.family": "status"/)
    await page.getByRole('button', { name: '1 of 3 required fields are written' }).waitFor()
    await checkAccessibility()
  })

  for (const way of ['mouse', 'keyboard']) {
    test(`asks for the type of a resource within another one, by ${way}`, async (test) => {
      const { page, id, checkAccessibility } = await openMapping(test, {})
      await page.getByRole('button', { name: 'Fields of the output' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Kind').selectOption('fhir')
      const resource = dialog.getByRole('combobox', { name: 'Resource' })
      const use = async (type: string) => {
        await resource.fill(type)
        await page.keyboard.press('Tab')
        await dialog.getByRole('button', { name: 'Show its fields' }).click()
        await dialog.waitFor({ state: 'detached' })
      }
      const open = async (name: string) => {
        if (way === 'mouse') return target(page, name).getByRole('button').click()
        await target(page, name).focus()
        await page.keyboard.press('ArrowRight')
      }
      await use('Bundle')
      await page.getByLabel('Fields', { exact: true }).fill('entry')
      await target(page, 'total').waitFor({ state: 'detached' })
      await open('entry')
      await target(page, 'resource').getByText('Resource', { exact: true }).waitFor()
      await open('resource')
      await page.getByRole('dialog', { name: 'Resource in entry[].resource' }).waitFor()
      await checkAccessibility()
      await use('Patient')
      await target(page, 'resourceType').getByText('Patient').waitFor()
      await source(page, 'family').waitFor({ state: 'detached' })
      await page.getByLabel('Fields', { exact: true }).fill('resource.birth')
      await target(page, 'birthDate').click()
      await page.keyboard.press('m')
      await dialog.getByRole('combobox', { name: /^Source of/ }).fill('requestBody.patient.birthDate')
      await page.keyboard.press('Tab')
      await dialog.getByRole('button', { name: 'Connect', exact: true }).click()
      assert.match(await draftOf(page, id), /"requestBody.patient.birthDate": "entry\[\].resource.birthDate"/)
      await page.getByLabel('Fields', { exact: true }).fill('resource.contained')
      await open('contained')
      await use('Organization')
      await page.getByLabel('Fields', { exact: true }).fill('contained alias')
      await target(page, 'alias').waitFor()
      // Another choice takes the place of the first.
      await target(page, 'resource').click()
      await page.getByRole('button', { name: 'Choose the resource' }).click()
      await use('Basic')
      await page.getByLabel('Fields', { exact: true }).fill('resourceType')
      await target(page, 'resourceType').getByText('Basic').waitFor()
      await checkAccessibility()
    })
  }

  test('shows at a later visit what it showed before: the message, the output and the height of the picture', async (test) => {
    const { page, id, message, open, checkAccessibility } = await openMapping(test)
    await page.getByRole('button', { name: 'Fields of the output' }).click()
    await page.getByRole('dialog').getByLabel('Text').fill('{"surname":"x"}')
    await page.getByRole('button', { name: 'Show its fields' }).click()
    await target(page, 'surname').waitFor()
    const splitter = page.getByRole('separator', { name: 'Height of the picture' })
    const board = page.locator('.mapping-board')
    const height = async () => (await board.boundingBox())?.height ?? 0
    const before = await height()
    await splitter.press('ArrowDown')
    await until(height, (now) => now > before)
    await splitter.press('End')
    assert.equal(await splitter.getAttribute('aria-valuenow'), '85')
    await open(`endpoints/${id}/mapping`)
    await page.waitForURL(new RegExp(`message=${message}`))
    await page.getByText('ran dry on').waitFor()
    await target(page, 'surname').waitFor()
    assert.equal(await splitter.getAttribute('aria-valuenow'), '85')
    await checkAccessibility()
    // A typed message takes the place of the recorded one, until none is chosen.
    await page.getByRole('button', { name: 'Type a message' }).click()
    await page.getByRole('dialog').getByLabel('Body').fill('{"nickname":"J"}')
    await page.getByRole('button', { name: 'Run dry' }).click()
    await source(page, 'nickname').waitFor()
    await open(`endpoints/${id}/mapping`)
    await source(page, 'nickname').waitFor()
    await page.getByLabel('Message', { exact: true }).selectOption('')
    await source(page, 'nickname').waitFor({ state: 'detached' })
    await page.reload()
    await target(page, 'surname').waitFor()
    assert.equal(await page.getByLabel('Message', { exact: true }).inputValue(), '')
    assert.equal(await source(page, 'nickname').count(), 0)
  })

  test('shows names and values of any kind as text, and connects them', async (test) => {
    const hostile = {
      '<img src=x onerror=alert(1)>': '<script>alert(1)</script>',
      'a.b[]*?\\"': '\u202egnp.exe',
      __proto__: { polluted: 'javascript:alert(1)' },
      ['n'.repeat(40_000)]: 'long',
      '': 'no name',
    }
    const body = JSON.parse(JSON.stringify(hostile).replace('{', '{"__proto__":{"x":1},')) as JsonObject
    const { page, id } = await openMapping(test, { 'requestBody.gone': 'kept' }, body)
    await source(page, '<img src=x onerror=alert(1)>').getByText('<script>alert(1)</script>').waitFor()
    await page.getByText('U+202E').first().waitFor()
    await source(page, 'a.b[]*?\\"').dragTo(target(page, 'kept'))
    await confirm(page, 'requestBody.gone writes kept already.')
    const { inputMapping } = JSON.parse(await draftOf(page, id)) as { inputMapping: object }
    assert.deepEqual(inputMapping, { 'requestBody.gone': 'kept', 'requestBody.a\\.b\\[\\]*?\\\\"': 'kept' })
  })

  test('lets a viewer look and change nothing, and says why', async (test) => {
    const { service, keys } = await startServiceWithKeys()
    const { page, checkAccessibility } = await openConsole(test, { of: service })
    test.after(() => service.stop())
    const body = JSON.stringify(
      endpointDocument({ endpoint: { pattern: '/orders' }, inputMapping: { 'requestBody.a': 'b' } }),
    )
    const headers = { ...JSON_TYPE, ...bearer(keys.author) }
    const reply = await call(service.adminUrl, 'POST', '/endpoints', { headers, body })
    assert.equal(reply.status, 201, reply.text)
    const { _id: id } = reply.json<{ _id: string }>()
    await page.goto(`/console/endpoints/${id}/mapping`)
    await signIn(page, keys.viewer)
    await page.getByText('Entries (1)').waitFor()
    await page.getByText('No message is loaded').waitFor()
    await source(page, 'a').click()
    await page.keyboard.press('m')
    assert.equal(await page.getByRole('dialog').count(), 0)
    await page.getByRole('button', { name: 'Connect …' }).getByText('M').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Connect …' }).getAttribute('aria-disabled'), 'true')
    await checkAccessibility()
  })

  const openEntries = (test: Parameters<typeof openMapping>[0], count: number) => {
    const names = Array.from({ length: count }, (_, index) => `field${index}`)
    const body = { person: Object.fromEntries(names.map((name, index) => [name, index])) }
    // The target of the last field is the first one, so most lines have an end that cannot be seen.
    const mapping = Object.fromEntries(
      names.map((name, index) => [`requestBody.person.${name}`, `out.${count - 1 - index}x`]),
    )
    return openMapping(test, mapping, body)
  }
  test('stays readable with 300 entries, and draws no more of them than can be seen', async (test) => {
    const { page, checkAccessibility } = await openEntries(test, 300)
    await page.getByText('Entries (300)').waitFor()
    assert.ok((await page.getByRole('treegrid', { name: 'Can be read' }).getByRole('row').count()) < 60)
    await page.locator('.edge.source.below').waitFor()
    await checkAccessibility()
    await page.getByLabel('Fields', { exact: true }).fill('field12')
    await page.getByText(/Entries \(1[01] of 300\)/).waitFor()
    // Selecting an entry brings both of its ends into view.
    await page.getByLabel('Fields', { exact: true }).fill('')
    await page.getByText('Entries (300)').waitFor()
    const entries = page.getByRole('grid', { name: 'Entries' })
    await entries.getByRole('row', { name: /field0 to/ }).click()
    await page.keyboard.press('End')
    await source(page, 'field299').waitFor()
    await target(page, '0x').waitFor()
    await page.locator('.line.selected').waitFor({ state: 'attached' })
  })
})
